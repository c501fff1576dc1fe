/// A request method (RFC 9110 §9): a case-sensitive token.
public struct HTTPMethod: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
  /// The token as it is sent.
  public let rawValue: String

  /// Any token; it is checked when the request is sent, which throws `HTTPError.Kind.invalidMethod`
  /// for an empty one or one with a character that a token can't hold.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Any token; see `init(rawValue:)`.
  public init(_ token: String) { self.rawValue = token }

  /// GET.
  public static let get = HTTPMethod("GET")
  /// HEAD: the answer has no body.
  public static let head = HTTPMethod("HEAD")
  /// POST.
  public static let post = HTTPMethod("POST")
  /// PUT.
  public static let put = HTTPMethod("PUT")
  /// PATCH (RFC 5789).
  public static let patch = HTTPMethod("PATCH")
  /// DELETE.
  public static let delete = HTTPMethod("DELETE")
  /// OPTIONS.
  public static let options = HTTPMethod("OPTIONS")
  /// TRACE: must not have a body (RFC 9110 §9.3.8).
  public static let trace = HTTPMethod("TRACE")

  /// Whether the method is safe (RFC 9110 §9.2.1).
  public var isSafe: Bool {
    switch rawValue {
    case "GET", "HEAD", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// Whether sending it twice means the same as sending it once (RFC 9110 §9.2.2).
  public var isIdempotent: Bool { isSafe || rawValue == "PUT" || rawValue == "DELETE" }

  /// Whether a request without content still says `Content-Length: 0` (RFC 9110 §8.6).
  package var expectsContent: Bool {
    switch rawValue {
    case "GET": false
    case "POST", "PUT", "PATCH": true
    default: false
    }
  }

  /// The token.
  public var description: String { rawValue }

  package var isValid: Bool { rawValue == "GET" || isToken }
  private var isToken: Bool { !rawValue.isEmpty && rawValue.utf8.allSatisfy(FieldSyntax.isTokenByte) }
}
