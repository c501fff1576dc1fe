/// A response: the head is here, the body is still on its way, at the reader's pace.
public struct Response: Sendable {
  /// All of it in one place, so that a copy is one reference.
  private final class Storage: Sendable {
    let delivered: DeliveredHead
    let url: String
    let history: [RedirectHop]
    let body: ResponseBody
    let exchange: Exchange?
    let announcedLength: Int64?
    let wireCounter: (any WireCounting)?
    let attempts: [HTTPError.Attempt]

    init(
      _ delivered: DeliveredHead, _ url: String, _ history: [RedirectHop], _ body: ResponseBody,
      _ exchange: Exchange?, _ announcedLength: Int64?,
      _ wireCounter: (any WireCounting)?, _ attempts: [HTTPError.Attempt]
    ) {
      self.delivered = delivered
      self.url = url
      self.history = history
      self.body = body
      self.exchange = exchange
      self.announcedLength = announcedLength
      self.wireCounter = wireCounter
      self.attempts = attempts
    }
  }

  private let storage: Storage

  init(
    head: ResponseHead, url: String, history: [RedirectHop], facts: ExchangeFacts, body: ResponseBody,
    exchange: Exchange?, announcedLength: Int64?, wireCounter: (any WireCounting)?,
    attempts: [HTTPError.Attempt] = []
  ) {
    self.init(
      DeliveredHead(head, facts), url: url, history: history, body: body, exchange: exchange,
      announcedLength: announcedLength, wireCounter: wireCounter, attempts: attempts)
  }

  init(
    _ delivered: DeliveredHead, url: String, history: [RedirectHop], body: ResponseBody, exchange: Exchange?,
    announcedLength: Int64?, wireCounter: (any WireCounting)?, attempts: [HTTPError.Attempt]
  ) {
    storage = Storage(delivered, url, history, body, exchange, announcedLength, wireCounter, attempts)
  }

  /// The head as it came.
  public var head: ResponseHead { storage.delivered.head }
  /// The URL that answered.
  public var url: String { storage.url }
  /// The redirects that led here.
  public var history: [RedirectHop] { storage.history }
  /// Times and connection as known when the head came.
  public var facts: ExchangeFacts { storage.delivered.facts }
  /// The body: read it once, or drop the response to end the exchange.
  public var body: ResponseBody { storage.body }
  /// The attempts before this one that failed and were retried, in order.
  public var attempts: [HTTPError.Attempt] { storage.attempts }
  /// What carries it; nil when a middleware answered.
  var exchange: Exchange? { storage.exchange }
  /// Body bytes on the wire, where the head says so.
  var announcedLength: Int64? { storage.announcedLength }
  /// Counts wire bytes where a coding is taken off.
  var wireCounter: (any WireCounting)? { storage.wireCounter }

  /// The status.
  public var status: HTTPStatus { storage.delivered.status }
  /// The header fields.
  public var headers: HTTPFields { storage.delivered.head.headers }
  /// The protocol version.
  public var version: HTTPVersion { storage.delivered.head.version }
  /// Where the time went until the head.
  public var timings: ExchangeFacts.Timings { storage.delivered.facts.timings }
  /// The trailers (RFC 9110 §6.5), once the body has been read to its end; nil when there were none.
  public var trailers: HTTPFields? { exchange?.trailers }
  /// Times, connection and counters, once the body has been read to its end.
  public var finalFacts: ExchangeFacts? { exchange?.finalFacts }

  /// Ends the exchange; a reader of the body gets `HTTPError.Kind.cancelled`.
  public func cancel() {
    guard let exchange else { return body.claimSource()?.abandon() ?? () }
    exchange.cancel()
    // A resumable body may be on an exchange of its own.
    (wireCounter as? ResumingBodySource)?.abandon()
  }
}
