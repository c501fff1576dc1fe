/// What comes out of one exchange, in wire order: `informational* head chunk* trailers? end`.
/// What comes once is boxed or kept beside the list, so that a chunk in it takes four words.
package enum ExchangeItem: Sendable {
  /// A 1xx head.
  indirect case informational(ResponseHead)
  /// The final head with what is known about the connection.
  case head(DeliveredHead)
  /// Body bytes as they were on the wire, transfer coding taken off.
  case chunk(BodyChunk)
  /// The trailer section (RFC 9110 §6.5).
  case trailers(HTTPFields)
  /// The exchange is complete; `ResponseBodyStorage.facts` has what is known about it.
  case end
  /// The exchange failed.
  indirect case failure(HTTPError)
}

extension ExchangeItem {
  package static func head(_ head: ResponseHead, _ facts: ExchangeFacts) -> ExchangeItem {
    .head(DeliveredHead(head, facts))
  }
}

/// How an exchange ends.
package enum ExchangeEnding: Sendable {
  /// Well, with all that is known about it.
  case complete(CopyOnWrite<ExchangeFacts>)
  /// Well: what was known with the head holds, but for these.
  case counted(ExchangeTotals)
  case failure(HTTPError)
}

/// What is known at the end alone.
package struct ExchangeTotals: Sendable {
  package var total: Duration
  package var received: Int64
  package var sent: Int64

  package init(total: Duration, received: Int64, sent: Int64) {
    self.total = total
    self.received = received
    self.sent = sent
  }
}

/// The final head and what was known when it came, handed on as one reference.
package final class DeliveredHead: @unchecked Sendable {
  // Sendable: filled before a storage hands it over under its lock, and never changed after.
  @exclusivity(unchecked) private var ownHead: ResponseHead
  @exclusivity(unchecked) private var ownFacts: ExchangeFacts
  /// Where its body ends, if whoever filled it has looked.
  @exclusivity(unchecked) private var ownFraming: ResponseFraming?
  package var head: ResponseHead { _read { yield ownHead } }
  package var facts: ExchangeFacts { _read { yield ownFacts } }
  // What is asked of each answer, without a copy of the rest.
  package var status: HTTPStatus { ownHead.status }
  package var tellsCutStreams: Bool { ownFacts.connection.tellsCutStreams }
  package var isContentCoded: Bool { ownHead.headers.contains("Content-Encoding") }

  /// Where the body ends of the answer to a request of this method.
  package func framing(_ method: HTTPMethod) -> ResponseFraming {
    ownFraming ?? ResponseFraming(ownHead, method: method)
  }

  package init(_ head: ResponseHead, _ facts: ExchangeFacts) {
    ownHead = head
    ownFacts = facts
  }

  /// An empty one, made where it will be let go: what one thread allocates and another frees makes them wait for
  /// each other in the allocator (decision 46).
  package convenience init() { self.init(ResponseHead(status: 0), ExchangeFacts()) }

  /// Fills an empty one.
  package func fill(
    _ head: consuming ResponseHead, _ facts: consuming ExchangeFacts, _ framing: ResponseFraming
  ) {
    ownHead = head
    ownFacts = facts
    ownFraming = framing
  }
}

/// Whoever fills a `ResponseBodyStorage`: the two arrows that go back to it. Callable from any thread.
package protocol ExchangeProducer: AnyObject, Sendable {
  /// The reader has taken enough: go on if you were held.
  func readerWantsMore()
  /// Nobody will read any more: end the exchange.
  func readerLeft()
  /// How far the exchange is before its head has come.
  var phase: HTTPError.Phase { get }
}

extension ExchangeProducer {
  package var phase: HTTPError.Phase { .head }
}
