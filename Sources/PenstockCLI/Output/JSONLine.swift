import Penstock

/// One JSON object on one line, its fields in the order of the calls.
struct JSONLine {
  private var text: [UInt8] = [UInt8(ascii: "{")]
  private var isFirst = true

  init(reserving capacity: Int = 256) { text.reserveCapacity(capacity) }

  /// A line of an event: `{"event":…`.
  init(event: String) {
    self.init()
    string("event", event)
  }

  /// The object and a line feed.
  consuming func finish() -> [UInt8] {
    text += [UInt8(ascii: "}"), UInt8(ascii: "\n")]
    return text
  }

  mutating func string(_ name: String, _ value: String?) {
    key(name)
    if let value { JSONText.append(value, to: &text) } else { appendNull() }
  }

  mutating func integer(_ name: String, _ value: (some BinaryInteger)?) {
    key(name)
    if let value { text += Array(String(value).utf8) } else { appendNull() }
  }

  /// Infinities and not-a-number, which JSON lacks, become null.
  mutating func double(_ name: String, _ value: Double?) {
    key(name)
    if let value, value.isFinite { text += Array(JSONText.number(value).utf8) } else { appendNull() }
  }

  /// In seconds, to the microsecond.
  mutating func seconds(_ name: String, _ value: Duration?) {
    key(name)
    if let value { text += Array(JSONText.seconds(value).utf8) } else { appendNull() }
  }

  mutating func bool(_ name: String, _ value: Bool) {
    key(name)
    text += Array((value ? "true" : "false").utf8)
  }

  mutating func null(_ name: String) {
    key(name)
    appendNull()
  }

  /// `[["name","value"],…]`, as header fields are told.
  mutating func pairs(_ name: String, _ pairs: some Sequence<(String, String)>) {
    key(name)
    text.append(UInt8(ascii: "["))
    var isFirst = true
    for (left, right) in pairs {
      if !isFirst { text.append(UInt8(ascii: ",")) }
      isFirst = false
      text.append(UInt8(ascii: "["))
      JSONText.append(left, to: &text)
      text.append(UInt8(ascii: ","))
      JSONText.append(right, to: &text)
      text.append(UInt8(ascii: "]"))
    }
    text.append(UInt8(ascii: "]"))
  }

  /// A string of base64.
  mutating func base64(_ name: String, _ bytes: Span<UInt8>) {
    key(name)
    text.append(UInt8(ascii: "\""))
    Base64.append(bytes, to: &text)
    text.append(UInt8(ascii: "\""))
  }

  /// An object inside, filled by the closure.
  mutating func object<Failure: Error>(
    _ name: String, _ fill: (inout JSONLine) throws(Failure) -> Void
  ) throws(Failure) {
    key(name)
    text.append(UInt8(ascii: "{"))
    isFirst = true
    try fill(&self)
    isFirst = false
    text.append(UInt8(ascii: "}"))
  }

  /// The fields of `failed`.
  mutating func failure(
    _ error: HTTPError, code: Int32, phase: HTTPError.Phase, received: Int64, status: HTTPStatus?
  ) {
    integer("code", code)
    string("kind", error.kind.rawValue)
    string("phase", phase.rawValue)
    string("message", [error.message, error.advice].compactMap { $0 }.joined(separator: ". "))
    integer("received", received)
    if let status { integer("status", status.code) }
  }

  private mutating func key(_ name: String) {
    if !isFirst { text.append(UInt8(ascii: ",")) }
    isFirst = false
    JSONText.append(name, to: &text)
    text.append(UInt8(ascii: ":"))
  }

  private mutating func appendNull() { text += Array("null".utf8) }
}
