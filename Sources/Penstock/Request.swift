/// A request: method, URL, fields, content, and what it wants otherwise than its client.
public struct Request: Sendable {
  /// The method.
  public var method: HTTPMethod
  /// The absolute URL, http or https. It is checked when the request is sent.
  public var url: String
  /// Header fields, sent in this order. Host, Content-Length and Transfer-Encoding are made from URL and body.
  public var headers: HTTPFields
  /// The content.
  public var body: RequestBody

  /// What it wants otherwise than its client.
  var choices = RequestChoices.none

  /// A request from its parts.
  public init(
    _ method: HTTPMethod = .get, _ url: String, headers: HTTPFields = [:], body: RequestBody = .empty
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }

  /// GET.
  public static func get(_ url: String, headers: HTTPFields = [:]) -> Request {
    Request(.get, url, headers: headers)
  }

  /// HEAD.
  public static func head(_ url: String, headers: HTTPFields = [:]) -> Request {
    Request(.head, url, headers: headers)
  }

  /// POST.
  public static func post(
    _ url: String, headers: HTTPFields = [:], body: RequestBody = .empty
  ) -> Request { Request(.post, url, headers: headers, body: body) }

  /// PUT.
  public static func put(
    _ url: String, headers: HTTPFields = [:], body: RequestBody = .empty
  ) -> Request { Request(.put, url, headers: headers, body: body) }

  /// PATCH.
  public static func patch(
    _ url: String, headers: HTTPFields = [:], body: RequestBody = .empty
  ) -> Request { Request(.patch, url, headers: headers, body: body) }

  /// DELETE.
  public static func delete(_ url: String, headers: HTTPFields = [:]) -> Request {
    Request(.delete, url, headers: headers)
  }

  /// OPTIONS.
  public static func options(_ url: String, headers: HTTPFields = [:]) -> Request {
    Request(.options, url, headers: headers)
  }
}

extension Request: CustomStringConvertible {
  /// Method and URL, secrets cut.
  public var description: String { "\(method) \(Redaction.url(url))" }
}
