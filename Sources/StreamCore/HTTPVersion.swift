/// The version of the protocol that carried a response.
public enum HTTPVersion: String, Sendable, Hashable, CustomStringConvertible {
  /// HTTP/1.0.
  case http1_0 = "1.0"
  /// HTTP/1.1 (RFC 9112).
  case http1_1 = "1.1"
  /// HTTP/2 (RFC 9113).
  case http2 = "2"
  /// HTTP/3 (RFC 9114): never negotiated by Debian's libcurl.
  case http3 = "3"

  /// "1.0", "1.1", "2" or "3".
  public var description: String { rawValue }
}
