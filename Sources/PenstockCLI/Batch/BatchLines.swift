import Penstock

/// The output of a batch: one JSON object a line, appended to a buffer that is written at once.
enum BatchLines {
  typealias Result = BatchResult<BatchInput, BatchRecord>

  static func append(
    _ result: Result, _ display: Settings.BodyDisplay?, to text: inout [UInt8]
  ) {
    let (record, error) = outcome(of: result)
    put("{\"id\":", &text)
    switch result.input.id {
    case .line(let number): integer(number, &text)
    case .string(let id): JSONText.append(id, to: &text)
    case .number(let id): put(id, &text)
    }
    put(",\"url\":", &text)
    // As it was given, so that programs find it again, but for user and password.
    JSONText.append(Redaction.userInfo(result.input.url), to: &text)
    put(",\"final_url\":", &text)
    string(record?.finalURL, &text)
    put(error == nil ? ",\"ok\":true" : ",\"ok\":false", &text)
    put(",\"status\":", &text)
    if let status = record?.status ?? error?.status?.code {
      integer(status, &text)
    } else {
      put("null", &text)
    }
    put(",\"bytes\":", &text)
    integer(Int(record?.bytes ?? error?.received ?? 0), &text)
    put(",\"sha256\":", &text)
    string(record?.sha256, &text)
    put(",\"duration\":", &text)
    seconds(result.duration, &text)
    put(",\"attempts\":", &text)
    integer(result.attempts, &text)
    put(",\"file\":", &text)
    string(record?.file, &text)
    if let body = record?.body { self.body(body, display, &text) }
    if let error { failure(error, &text) }
    put("}\n", &text)
  }

  /// The record, where an answer came, and why it isn't ok.
  static func outcome(of result: Result) -> (BatchRecord?, HTTPError?) {
    switch result.result {
    case .success(let record): (record, record.error)
    case .failure(let error): (nil, error)
    }
  }

  private static func body(_ body: [UInt8], _ display: Settings.BodyDisplay?, _ text: inout [UInt8]) {
    switch display {
    case .base64:
      put(",\"body\":\"", &text)
      Base64.append(body.span, to: &text)
      put("\"", &text)
    case .text:
      put(",\"body\":", &text)
      JSONText.append(String(decoding: body, as: UTF8.self), to: &text)
    case .some(.none), nil: break
    }
  }

  private static func failure(_ error: HTTPError, _ text: inout [UInt8]) {
    put(",\"error\":{\"code\":", &text)
    integer(error.code, &text)
    put(",\"kind\":", &text)
    JSONText.append(error.kind.rawValue, to: &text)
    put(",\"phase\":", &text)
    JSONText.append(error.phase.rawValue, to: &text)
    put(",\"message\":", &text)
    JSONText.append([error.message, error.advice].compactMap { $0 }.joined(separator: ". "), to: &text)
    put("}", &text)
  }

  // MARK: small parts, without strings in between

  private static func put(_ part: StaticString, _ text: inout [UInt8]) {
    text.append(contentsOf: UnsafeBufferPointer(start: part.utf8Start, count: part.utf8CodeUnitCount))
  }

  private static func put(_ part: String, _ text: inout [UInt8]) { text.append(contentsOf: part.utf8) }

  private static func string(_ value: String?, _ text: inout [UInt8]) {
    if let value { JSONText.append(value, to: &text) } else { put("null", &text) }
  }

  static func integer(_ value: Int, _ text: inout [UInt8]) {
    if value < 0 { text.append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = text.count
    repeat {
      text.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    text[start...].reverse()
  }

  /// In seconds, to the microsecond.
  static func seconds(_ value: Duration, _ text: inout [UInt8]) {
    let parts = value.components
    guard parts.seconds >= 0, parts.attoseconds >= 0 else { return put("0", &text) }
    integer(Int(parts.seconds), &text)
    var micros = parts.attoseconds / 1_000_000_000_000
    guard micros > 0 else { return }
    var digits = 6
    while micros % 10 == 0 {
      micros /= 10
      digits -= 1
    }
    text.append(UInt8(ascii: "."))
    var scale: Int64 = 1
    for _ in 1..<digits { scale *= 10 }
    while scale > 0 {
      text.append(UInt8(ascii: "0") + UInt8(micros / scale % 10))
      scale /= 10
    }
  }
}
