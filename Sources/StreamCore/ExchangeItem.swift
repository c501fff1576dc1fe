/// What comes out of one exchange, in wire order: `informational* head chunk* trailers? end`.
/// What comes once is boxed, so that a chunk in a list takes four words.
package enum ExchangeItem: Sendable {
  /// A 1xx head.
  indirect case informational(ResponseHead)
  /// The final head with what is known about the connection.
  case head(DeliveredHead)
  /// Body bytes as they were on the wire, transfer coding taken off.
  case chunk(BodyChunk)
  /// The trailer section (RFC 9110 §6.5).
  case trailers(HTTPFields)
  /// The exchange is complete.
  case end(CopyOnWrite<ExchangeFacts>)
  /// The exchange failed.
  indirect case failure(HTTPError)
}

extension ExchangeItem {
  package static func head(_ head: ResponseHead, _ facts: ExchangeFacts) -> ExchangeItem {
    .head(DeliveredHead(head, facts))
  }

  package static func end(of facts: ExchangeFacts) -> ExchangeItem { .end(CopyOnWrite(facts)) }
}

/// The final head and what was known when it came, made once and handed on as one reference.
package final class DeliveredHead: Sendable {
  package let head: ResponseHead
  package let facts: ExchangeFacts

  package init(_ head: ResponseHead, _ facts: ExchangeFacts) {
    self.head = head
    self.facts = facts
  }
}

/// Whoever fills a `ResponseBodyStorage`: the two arrows that go back to it. Callable from any thread.
package protocol ExchangeProducer: AnyObject, Sendable {
  /// The reader has taken enough: go on if you were held.
  func readerWantsMore()
  /// Nobody will read any more: end the exchange.
  func readerLeft()
}
