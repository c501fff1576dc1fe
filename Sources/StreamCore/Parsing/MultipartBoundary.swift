/// The boundary of a multipart type.
package enum MultipartBoundary {
  /// The `boundary` of a Content-Type; nil for another type, and where it is missing, empty or longer than the 70
  /// characters that RFC 2046 §5.1.1 allows.
  package static func of(_ contentType: String) -> String? {
    let bytes = Array(contentType.utf8)
    guard bytes.count > 10, zip(bytes, "multipart/".utf8).allSatisfy({ FieldSyntax.lower($0) == $1 }) else {
      return nil
    }
    for parameter in parameters(bytes) {
      guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let name = FieldSyntax.trimmed(parameter[..<equals]).map(FieldSyntax.lower)
      guard name.elementsEqual("boundary".utf8) else { continue }
      let value = unquoted(FieldSyntax.trimmed(parameter[(equals + 1)...]))
      return value.isEmpty || value.count > 70 ? nil : String(decoding: value, as: UTF8.self)
    }
    return nil
  }

  /// What stands between semicolons, those in quotation marks left alone.
  private static func parameters(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var parameters: [ArraySlice<UInt8>] = []
    var start = 0
    var isQuoted = false
    var isEscaped = false
    for (index, byte) in bytes.enumerated() {
      if isEscaped {
        isEscaped = false
      } else if isQuoted, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if byte == UInt8(ascii: ";"), !isQuoted {
        parameters.append(bytes[start..<index])
        start = index + 1
      }
    }
    parameters.append(bytes[start...])
    return Array(parameters.dropFirst())
  }

  private static func unquoted(_ value: ArraySlice<UInt8>) -> [UInt8] {
    guard value.count >= 2, value.first == UInt8(ascii: "\""), value.last == UInt8(ascii: "\"") else {
      return Array(value)
    }
    var text: [UInt8] = []
    var isEscaped = false
    for byte in value.dropFirst().dropLast() {
      if byte == UInt8(ascii: "\\"), !isEscaped {
        isEscaped = true
      } else {
        isEscaped = false
        text.append(byte)
      }
    }
    return text
  }
}
