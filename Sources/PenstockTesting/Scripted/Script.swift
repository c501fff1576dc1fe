/// What a scripted server does on one connection.
public struct Script: Sendable, ExpressibleByArrayLiteral {
  /// The steps in their order.
  public var steps: [Step]
  /// Whether the script goes on when the peer has ended its sending side only. Off by default: then the end of
  /// the peer ends the script.
  public var toleratesHalfClose: Bool

  /// A script of these steps.
  public init(_ steps: [Step], toleratesHalfClose: Bool = false) {
    self.steps = steps
    self.toleratesHalfClose = toleratesHalfClose
  }

  /// A script of these steps.
  public init(arrayLiteral elements: Step...) {
    self.init(elements)
  }

  /// Answers every request on a connection with the same response.
  public static func response(
    status: Int = 200, fields: [(String, String)] = [], body: String = ""
  ) -> Script {
    [.respondEach([.response(status: status, fields: fields, body: body)])]
  }

  /// Answers every request on a connection with the same chunked response.
  public static func chunked(
    _ chunks: [String], status: Int = 200, fields: [(String, String)] = [], trailers: [(String, String)] = []
  ) -> Script {
    [.respondEach([.chunked(chunks, status: status, fields: fields, trailers: trailers)])]
  }
}

extension Step {
  /// Sends a whole response; `Content-Length` is added unless `fields` has it, or the status forbids a body.
  public static func response(
    status: Int = 200, fields: [(String, String)] = [], body: String = ""
  ) -> Step {
    .response(status: status, fields: fields, bytes: Array(body.utf8))
  }

  /// Sends a whole response; `Content-Length` is added unless `fields` has it, or the status forbids a body.
  public static func response(
    status: Int = 200, fields: [(String, String)] = [], bytes: [UInt8]
  ) -> Step {
    var fields = fields
    let hasLength = fields.contains { $0.0.lowercased() == "content-length" }
    if !hasLength, status >= 200, status != 204, status != 304 {
      fields.append(("Content-Length", "\(bytes.count)"))
    }
    return .sendBytes(Array(ChunkResponseHead.text(status: status, fields: fields).utf8) + bytes)
  }

  /// Sends the head of a response, exactly with these fields.
  public static func head(status: Int = 200, fields: [(String, String)] = []) -> Step {
    .send(ChunkResponseHead.text(status: status, fields: fields))
  }

  /// Sends a whole chunked response.
  public static func chunked(
    _ chunks: [String], status: Int = 200, fields: [(String, String)] = [], trailers: [(String, String)] = []
  ) -> Step {
    var text = ChunkResponseHead.text(status: status, fields: fields + [("Transfer-Encoding", "chunked")])
    for chunk in chunks where !chunk.isEmpty {
      text += "\(String(chunk.utf8.count, radix: 16))\r\n\(chunk)\r\n"
    }
    text += "0\r\n"
    for (name, value) in trailers { text += "\(name): \(value)\r\n" }
    return .send(text + "\r\n")
  }

  /// Sends one chunk of a chunked body; an empty one ends the body.
  public static func chunk(_ text: String) -> Step {
    .send("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n")
  }
}

/// Writes heads of responses.
enum ChunkResponseHead {
  static func text(status: Int, fields: [(String, String)]) -> String {
    var text = "HTTP/1.1 \(status) \(reason(of: status))\r\n"
    for (name, value) in fields { text += "\(name): \(value)\r\n" }
    return text + "\r\n"
  }

  private static func reason(of status: Int) -> String {
    switch status {
    case 100: "Continue"
    case 103: "Early Hints"
    case 200: "OK"
    case 201: "Created"
    case 204: "No Content"
    case 206: "Partial Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 416: "Range Not Satisfiable"
    case 417: "Expectation Failed"
    case 429: "Too Many Requests"
    case 500: "Internal Server Error"
    case 503: "Service Unavailable"
    default: "Status"
    }
  }
}
