/// The argument of curl's `-F`: `NAME=VALUE`, `NAME=@FILE` (a file) or `NAME=<FILE` (a file's content as a value), then
/// `;type=T` and `;filename=N`. Values may stand in double quotes, with backslashes before quotes and backslashes.
package struct CurlFormField: Sendable, Hashable {
  package enum Content: Sendable, Hashable {
    case value(String)
    /// Sent as a file, with its name.
    case file(String)
    /// Sent as a plain value.
    case content(of: String)
  }

  package var name: String
  package var content: Content
  package var type: String?
  package var fileName: String?

  package init(name: String, content: Content, type: String? = nil, fileName: String? = nil) {
    self.name = name
    self.content = content
    self.type = type
    self.fileName = fileName
  }

  /// Whether no file is read for it.
  package var isValue: Bool {
    if case .value = content { return true }
    return false
  }

  /// Reads an argument; an error's text says what is wrong and never shows a value.
  package static func parse(_ text: String) -> Result<[CurlFormField], Problem> {
    let bytes = Array(text.utf8)
    guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")), equals > 0 else {
      return .failure(Problem("a form field is NAME=VALUE or NAME=@FILE"))
    }
    let name = String(decoding: bytes[..<equals], as: UTF8.self)
    var rest = bytes[(equals + 1)...]
    let mark = rest.first
    let isFile = mark == UInt8(ascii: "@")
    let isContent = mark == UInt8(ascii: "<")
    if isFile || isContent { rest = rest.dropFirst() }
    var fields: [CurlFormField] = []
    do throws(Problem) {
      repeat {
        if !fields.isEmpty { rest = rest.dropFirst() }
        // A comma separates files; in a value it is itself.
        let word = try take(&rest, endsAtComma: isFile)
        var field = CurlFormField(name: name, content: .value(word))
        if isFile { field.content = .file(word) }
        if isContent { field.content = .content(of: word) }
        if (isFile || isContent) && word.isEmpty { throw Problem("a file name is missing") }
        try takeParameters(&rest, into: &field, endsAtComma: isFile)
        fields.append(field)
      } while rest.first == UInt8(ascii: ",")
    } catch {
      return .failure(error)
    }
    return .success(fields)
  }

  package struct Problem: Error, Equatable {
    package let text: String
    init(_ text: String) { self.text = text }
  }

  private static func takeParameters(
    _ rest: inout ArraySlice<UInt8>, into field: inout CurlFormField, endsAtComma: Bool
  ) throws(Problem) {
    while rest.first == UInt8(ascii: ";") {
      rest = rest.dropFirst()
      while rest.first == 0x20 { rest = rest.dropFirst() }
      if rest.starts(with: "type=".utf8) {
        rest = rest.dropFirst(5)
        // A type has parameters of its own: `text/plain; charset=utf-8`.
        var type = try take(&rest, endsAtComma: endsAtComma)
        while rest.first == UInt8(ascii: ";"), !startsParameter(rest.dropFirst()) {
          rest = rest.dropFirst()
          type += ";" + (try take(&rest, endsAtComma: endsAtComma))
        }
        field.type = type
      } else if rest.starts(with: "filename=".utf8) {
        rest = rest.dropFirst(9)
        field.fileName = try take(&rest, endsAtComma: endsAtComma)
      } else if case .value(let value) = field.content {
        // No parameter of ours: curl takes it for a part of the value.
        field.content = .value(value + ";" + (try take(&rest, endsAtComma: false)))
      } else {
        throw Problem("behind a file there can be ;type= and ;filename=")
      }
    }
  }

  private static func startsParameter(_ rest: ArraySlice<UInt8>) -> Bool {
    let rest = rest.drop { $0 == 0x20 }
    return rest.starts(with: "type=".utf8) || rest.starts(with: "filename=".utf8)
  }

  private static func take(_ rest: inout ArraySlice<UInt8>, endsAtComma: Bool) throws(Problem) -> String {
    if rest.first == UInt8(ascii: "\"") {
      var bytes: [UInt8] = []
      var position = rest.startIndex + 1
      while position < rest.endIndex {
        let byte = rest[position]
        if byte == UInt8(ascii: "\"") {
          rest = rest[(position + 1)...]
          return String(decoding: bytes, as: UTF8.self)
        }
        if byte == UInt8(ascii: "\\"), position + 1 < rest.endIndex,
          rest[position + 1] == UInt8(ascii: "\"") || rest[position + 1] == UInt8(ascii: "\\")
        {
          position += 1
        }
        bytes.append(rest[position])
        position += 1
      }
      throw Problem("a quote isn't closed")
    }
    let end =
      rest.firstIndex { $0 == UInt8(ascii: ";") || (endsAtComma && $0 == UInt8(ascii: ",")) } ?? rest.endIndex
    defer { rest = rest[end...] }
    return String(decoding: rest[..<end], as: UTF8.self)
  }

  /// The argument again.
  package func text() -> String {
    var text = name + "="
    switch content {
    case .value(let value): text += Self.quoted(value)
    case .file(let path): text += "@" + Self.quoted(path)
    case .content(let path): text += "<" + Self.quoted(path)
    }
    if let type { text += ";type=" + type }
    if let fileName { text += ";filename=" + Self.quoted(fileName) }
    return text
  }

  private static func quoted(_ word: String) -> String {
    guard word.utf8.contains(where: { ";,\"@<".utf8.contains($0) }) || word.isEmpty else { return word }
    return "\"" + word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
