import Penstock

/// Turns lines into inputs: a URL a line, or a JSON object. Whatever is wrong with a line is the failure of its
/// input.
enum BatchLineParser {
  /// Nil for a blank line and for one that begins with "#".
  static func parse(_ line: [UInt8], number: Int, end: Int64 = 0) -> BatchInput? {
    let text = trimmed(line)
    guard let first = text.first, first != UInt8(ascii: "#") else { return nil }
    if first == UInt8(ascii: "{") { return object(Array(text), number, end) }
    guard let url = String(validating: text, as: UTF8.self) else {
      return failed(.line(number), "", "line \(number) is not UTF-8", number, end)
    }
    return BatchInput(id: .line(number), url: url, end: end)
  }

  /// For a line that isn't kept.
  static func tooLong(number: Int, limit: Int, end: Int64) -> BatchInput {
    failed(.line(number), "", "line \(number) is longer than \(limit) bytes", number, end)
  }

  private static func trimmed(_ line: [UInt8]) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    var start = line.startIndex
    var end = line.endIndex
    // A byte order mark before the first line is nobody's.
    if line.starts(with: ByteOrderMark.bytes) { start += 3 }
    while start < end, isBlank(line[start]) { start += 1 }
    while end > start, isBlank(line[end - 1]) { end -= 1 }
    return line[start..<end]
  }

  private static func failed(
    _ id: BatchInput.ID, _ url: String, _ message: String, _ number: Int, _ end: Int64,
    kind: HTTPError.Kind = .invalidConfiguration
  ) -> BatchInput {
    BatchInput(
      id: id, url: url, failure: HTTPError(kind, phase: .queue, message: message), end: end)
  }

  private static func object(_ text: [UInt8], _ number: Int, _ end: Int64) -> BatchInput {
    let members: [WrittenJSON.Member]
    do throws(JSONReader.Failure) {
      guard case .object(let found) = try JSONReader.read(text) else {
        return failed(.line(number), "", "line \(number) is no JSON object", number, end)
      }
      members = found
    } catch {
      return failed(
        .line(number), "", "line \(number) is no JSON: \(error.message) (byte \(error.offset + 1))", number,
        end)
    }
    var fields = Fields(id: .line(number))
    for member in members { fields.take(member) }
    if let wrong = fields.wrong {
      return failed(fields.id, fields.url ?? "", "line \(number): \(wrong)", number, end)
    }
    guard let url = fields.url else {
      return failed(fields.id, "", "line \(number): \"url\" is missing", number, end, kind: .invalidURL)
    }
    return BatchInput(id: fields.id, url: url, details: fields.details, end: end)
  }

  /// What was read of an object.
  private struct Fields {
    var id: BatchInput.ID
    var url: String?
    var wrong: String?
    private var method: String?
    private var headers: [(name: String, value: String)] = []
    private var body: String?
    private var file: String?
    private var priority = 0

    init(id: BatchInput.ID) { self.id = id }

    /// Nil where there is nothing to say.
    var details: BatchInput.Details? {
      if method == nil, headers.isEmpty, body == nil, file == nil, priority == 0 { return nil }
      return BatchInput.Details(method: method, headers: headers, body: body, file: file, priority: priority)
    }

    mutating func take(_ member: WrittenJSON.Member) {
      if member.value == .null { return }
      switch (member.name, member.value) {
      case ("url", .string(let text)): url = text
      case ("method", .string(let text)): method = text
      case ("body", .string(let text)): body = text
      case ("file", .string(let text)):
        if let why = BatchFileName.refusal(text) { complain("\"file\" \(why)") } else { file = text }
      case ("id", .string(let text)): id = .string(text)
      case ("id", .number(let text)): id = .number(text)
      case ("priority", .number(let text)):
        if let number = Int(text) { priority = number } else { complain("\"priority\" is no whole number") }
      case ("headers", .array(let pairs)): for pair in pairs { take(header: pair) }
      case ("url", _), ("method", _), ("body", _), ("file", _): complain("\"\(member.name)\" is no string")
      case ("id", _): complain("\"id\" is neither string nor number")
      case ("priority", _): complain("\"priority\" is no whole number")
      case ("headers", _): complain("\"headers\" is no list of [name, value]")
      // Further members are the user's own.
      default: break
      }
    }

    private mutating func take(header: WrittenJSON) {
      guard case .array(let pair) = header, pair.count == 2, case .string(let name) = pair[0],
        case .string(let value) = pair[1]
      else { return complain("\"headers\" is no list of [name, value]") }
      headers.append((name, value))
    }

    private mutating func complain(_ what: String) { if wrong == nil { wrong = what } }
  }
}

/// Names of files that an input may go to: below the folder of the run, nowhere else.
enum BatchFileName {
  /// Why it can't be had; nil when it can.
  static func refusal(_ name: String) -> String? {
    if name.isEmpty { return "is empty" }
    if name.utf8.contains(0) { return "holds a zero byte" }
    if name.utf8.first == UInt8(ascii: "/") { return "is an absolute path" }
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    for part in parts {
      if part.elementsEqual("..".utf8) || part.elementsEqual(".".utf8) { return "leads out of the folder" }
      if part.isEmpty { return "has an empty part" }
      if part.count > 200 { return "has a part longer than 200 bytes" }
    }
    return nil
  }
}
