/// What happens in an exchange, in the order in which it happens:
/// `informational*`, `uploadProgress*`, `redirect*`, `retry*`, `head`, then `body` and `progress`, `trailers`, `completed`.
public enum TransferEvent: Sendable {
  /// A 1xx response (RFC 9110 §15.2).
  case informational(ResponseHead)
  /// A redirect is followed.
  case redirect(RedirectHop)
  /// An attempt failed and another follows.
  case retry(RetryAttempt)
  /// Body bytes were sent; the latest value, never a backlog.
  case uploadProgress(UploadProgress)
  /// The final head, exactly once and before any body byte is waited for.
  case head(FinalHead)
  /// Decoded body bytes.
  case body(BodyChunk)
  /// How far the body is: at most ten a second, and one last before `completed`.
  case progress(TransferProgress)
  /// The trailer section, only when there was one.
  case trailers(HTTPFields)
  /// The exchange is complete. A failure is thrown instead.
  case completed(TransferSummary)
}

/// The final head and where it came from.
public struct FinalHead: Sendable {
  /// The head.
  public let head: ResponseHead
  /// The URL that answered.
  public let url: String
  /// Times and connection so far.
  public let facts: ExchangeFacts

  /// The status.
  public var status: HTTPStatus { head.status }
  /// The header fields.
  public var headers: HTTPFields { head.headers }
  /// The protocol version.
  public var version: HTTPVersion { head.version }
}

/// How much of a request's body was sent.
public struct UploadProgress: Sendable, Hashable {
  /// Bytes handed to the connection.
  public let sent: Int64
  /// Bytes to send, nil when unknown.
  public let total: Int64?
}

/// What there is to know at the end of an exchange.
public struct TransferSummary: Sendable, Hashable {
  /// Body bytes from the wire, content coding still on.
  public let received: Int64
  /// Body bytes handed out, content coding taken off.
  public let decoded: Int64
  /// From the call to the end.
  public let duration: Duration
  /// Times, connection and counters.
  public let facts: ExchangeFacts
}
