/// The head of a response, final or informational: everything before the body.
public struct ResponseHead: Sendable, Equatable {
  /// The status code.
  public var status: HTTPStatus
  /// The reason phrase, empty in HTTP/2.
  public var reason: String
  /// The protocol version of the connection.
  public var version: HTTPVersion
  /// The header fields in wire order.
  public var headers: HTTPFields

  /// A head from its parts.
  public init(
    status: HTTPStatus, reason: String = "", version: HTTPVersion = .http1_1, headers: HTTPFields = [:]
  ) {
    self.status = status
    self.reason = reason
    self.version = version
    self.headers = headers
  }
}
