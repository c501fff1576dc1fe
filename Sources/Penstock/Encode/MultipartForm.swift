/// A form of parts, `multipart/form-data` (RFC 7578), streamed: a file of any size takes no memory.
///
/// ```swift
/// var form = MultipartForm()
/// form.add("title", "A cat")
/// form.addFile("picture", path: "/tmp/cat.jpg")
/// let response = try await client.send(.post(url, body: .multipart(form)))
/// ```
public struct MultipartForm: Sendable {
  /// One part: its fields and its content.
  public struct Part: Sendable {
    /// The name of the form's field.
    public var name: String
    /// The name of the file, which makes it one for the server; nil for a plain value.
    public var fileName: String?
    /// The content. Bodies of unknown length make the form's length unknown.
    public var body: RequestBody
    /// Further header fields of the part; Content-Type takes the place of the body's.
    public var headers: HTTPFields

    /// A part from its own parts.
    public init(_ name: String, fileName: String? = nil, body: RequestBody, headers: HTTPFields = [:]) {
      self.name = name
      self.fileName = fileName
      self.body = body
      self.headers = headers
    }
  }

  /// The parts in the order in which they are sent.
  public var parts: [Part] = []
  /// What stands between the parts: random, so that no content holds it.
  public let boundary: String

  /// A form without parts.
  public init() { boundary = Self.randomBoundary() }

  /// A form with a boundary of the caller's, for tests: 1 to 70 bytes of letters, digits and `'()+_,-./:=?`.
  init(boundary: String) { self.boundary = boundary }

  /// The content type with the boundary.
  public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

  /// Adds a plain value.
  public mutating func add(_ name: String, _ value: String) {
    parts.append(Part(name, body: .string(value)))
  }

  /// Adds bytes as a file.
  public mutating func addFile(
    _ name: String, fileName: String, bytes: some Sequence<UInt8>, contentType: String? = nil
  ) {
    parts.append(.file(name, fileName: fileName, bytes: bytes, contentType: contentType))
  }

  /// Adds a file, which is opened and measured when the request is sent and read as it goes out.
  ///
  /// - Parameters:
  ///   - fileName: what the server is told; the last part of the path unless given.
  ///   - contentType: a guess from the name's ending unless given.
  public mutating func addFile(
    _ name: String, path: String, fileName: String? = nil, contentType: String? = nil
  ) {
    parts.append(.file(name, path: path, fileName: fileName, contentType: contentType))
  }

  /// What curl takes a file for by its name.
  public static func contentType(ofFile name: String) -> String {
    let known = [
      ".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png",
      ".svg": "image/svg+xml", ".txt": "text/plain", ".htm": "text/html", ".html": "text/html",
      ".pdf": "application/pdf", ".xml": "application/xml",
    ]
    let lower = name.lowercased()
    return known.first { lower.hasSuffix($0.key) }?.value ?? "application/octet-stream"
  }

  private static func randomBoundary() -> String {
    let digits = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    var generator = SystemRandomNumberGenerator()
    let tail = (0..<32).map { _ in digits[Int.random(in: digits.indices, using: &generator)] }
    return "penstock-" + String(decoding: tail, as: UTF8.self)
  }

  // MARK: on the wire

  /// The lines in front of a part's content.
  func head(of part: Part, isFirst: Bool) -> String {
    var text = (isFirst ? "" : "\r\n") + "--\(boundary)\r\n"
    text += "Content-Disposition: form-data; name=\"\(Self.escaped(part.name))\""
    if let fileName = part.fileName { text += "; filename=\"\(Self.escaped(fileName))\"" }
    text += "\r\n"
    if let type = part.body.contentType, !part.headers.contains("Content-Type") {
      text += "Content-Type: \(type)\r\n"
    }
    for field in part.headers { text += "\(field.name): \(field.value)\r\n" }
    return text + "\r\n"
  }

  var tail: String { (parts.isEmpty ? "" : "\r\n") + "--\(boundary)--\r\n" }

  /// As the WHATWG HTML standard has it for multipart/form-data: line ends become CR LF, then CR, LF and the
  /// quotation mark are percent-encoded, nothing else.
  static func escaped(_ name: String) -> String {
    var bytes: [UInt8] = []
    var last: UInt8 = 0
    for byte in name.utf8 {
      switch byte {
      case 0x0D: bytes += "%0D%0A".utf8
      case 0x0A: if last != 0x0D { bytes += "%0D%0A".utf8 }
      case UInt8(ascii: "\""): bytes += "%22".utf8
      default: bytes.append(byte)
      }
      last = byte
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Why it can't be sent.
  func check() throws(HTTPError) {
    for part in parts {
      if let type = part.body.contentType, !type.utf8.allSatisfy(FieldSyntax.isValueByte) {
        throw HTTPError(
          .invalidHeader, phase: .queue,
          message: "the content type of the part \"\(part.name)\" holds a line end")
      }
      if let field = part.headers.firstInvalidField {
        throw HTTPError(
          .invalidHeader, phase: .queue,
          message: "the field \"\(field.name)\" of the part \"\(part.name)\" \(field.why)")
      }
    }
  }
}
