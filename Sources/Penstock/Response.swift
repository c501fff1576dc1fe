/// A response: the head is here, the body is still on its way, at the reader's pace.
public struct Response: Sendable {
  /// The head as it came.
  public let head: ResponseHead
  /// The URL that answered.
  public let url: String
  /// The redirects that led here.
  public let history: [RedirectHop]
  /// Times and connection as known when the head came.
  public let facts: ExchangeFacts
  /// The body: read it once, or drop the response to end the exchange.
  public let body: ResponseBody
  private let exchange: Exchange
  /// Body bytes on the wire, where the head says so.
  let announcedLength: Int64?
  /// Counts wire bytes where a coding is taken off.
  let wireCounter: (any WireCounting)?

  init(
    head: ResponseHead, url: String, history: [RedirectHop], facts: ExchangeFacts, body: ResponseBody,
    exchange: Exchange, announcedLength: Int64?, wireCounter: (any WireCounting)?
  ) {
    self.head = head
    self.url = url
    self.history = history
    self.facts = facts
    self.body = body
    self.exchange = exchange
    self.announcedLength = announcedLength
    self.wireCounter = wireCounter
  }

  /// The status.
  public var status: HTTPStatus { head.status }
  /// The header fields.
  public var headers: HTTPFields { head.headers }
  /// The protocol version.
  public var version: HTTPVersion { head.version }
  /// Where the time went until the head.
  public var timings: ExchangeFacts.Timings { facts.timings }
  /// The trailers (RFC 9110 §6.5), once the body has been read to its end; nil when there were none.
  public var trailers: HTTPFields? { exchange.trailers }
  /// Times, connection and counters, once the body has been read to its end.
  public var finalFacts: ExchangeFacts? { exchange.finalFacts }

  /// Ends the exchange; a reader of the body gets `HTTPError.Kind.cancelled`.
  public func cancel() { exchange.cancel() }
}
