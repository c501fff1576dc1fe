/// The states of one exchange's receiving side: who may write, who waits, and when the sender is held.
///
/// Pure: `ResponseBodyStorage` keeps it under its lock and carries out what it says.
package struct ResponseBodyStateMachine: Sendable {
  enum State: Sendable, Equatable {
    /// The producer is at work.
    case open
    /// The producer has put its last item in; the reader may still take what is there.
    case ended
    /// The reader has gone, of its own will or by cancellation; whatever comes is dropped.
    case abandoned
    /// The reader has taken the last item.
    case finished
  }

  private(set) var state = State.open
  /// Bytes that the reader has not accounted for yet.
  private(set) var buffered = 0
  /// Whether the producer was told to hold.
  private(set) var isHeld = false
  /// Whether there is something that the reader has not seen.
  private var hasNews = false
  private var readerWaits = false
  private(set) var watermark: Watermark

  package init(watermark: Watermark) { self.watermark = watermark }

  // MARK: producer

  package enum ReceiveAction: Sendable, Equatable {
    /// Nobody reads any more: drop the bytes.
    case ignore
    /// Keep the bytes and go on.
    case keep
    /// Keep the bytes, and deliver no more until the reader asks.
    case keepAndHold
  }

  /// Body bytes came. With `overBudget` the producer is held above the low mark already.
  package mutating func received(_ count: Int, overBudget: Bool) -> ReceiveAction {
    guard state == .open else { return .ignore }
    buffered += count
    hasNews = true
    if buffered >= (overBudget ? max(1, watermark.low) : watermark.high) {
      isHeld = true
      return .keepAndHold
    }
    return .keep
  }

  /// The producer is to be held at so many bytes, if that is earlier.
  package mutating func holdsAt(_ high: Int) {
    watermark = Watermark(low: watermark.low, high: min(watermark.high, high))
  }

  package enum ItemAction: Sendable, Equatable {
    case ignore
    case keep
  }

  /// A head, trailers or progress came.
  package mutating func receivedItem() -> ItemAction {
    guard state == .open else { return .ignore }
    hasNews = true
    return .keep
  }

  /// The producer has nothing more to say.
  package mutating func ended() -> ItemAction {
    guard state == .open else { return .ignore }
    state = .ended
    hasNews = true
    return .keep
  }

  package enum FlushAction: Sendable, Equatable {
    case none
    case resumeReader
  }

  /// The end of the producer's turn: wakes a waiting reader when there is news.
  package mutating func flush() -> FlushAction {
    guard hasNews, readerWaits else { return .none }
    readerWaits = false
    return .resumeReader
  }

  // MARK: reader

  package enum TakeAction: Sendable, Equatable {
    /// Take all items.
    case take
    /// Nothing there: wait.
    case wait
    /// The reader was cancelled.
    case cancelled
    /// The last item was taken before.
    case finished
  }

  /// The reader looks for items; `isEmpty` says whether any are there.
  package mutating func take(isEmpty: Bool) -> TakeAction {
    switch state {
    case .abandoned: return .cancelled
    case .finished: return .finished
    case .open, .ended:
      hasNews = false
      return isEmpty ? (state == .ended ? .finished : .wait) : .take
    }
  }

  /// The reader has taken the item that ends the exchange.
  package mutating func tookEnd() {
    if state == .ended { state = .finished }
  }

  package enum CreditAction: Sendable, Equatable {
    case none
    case resumeProducer
  }

  /// The reader has used so many bytes.
  package mutating func credit(_ count: Int) -> CreditAction {
    buffered = max(0, buffered - count)
    guard isHeld, buffered <= watermark.low, state == .open else { return .none }
    isHeld = false
    return .resumeProducer
  }

  package enum WaitAction: Sendable, Equatable {
    /// Something has come in the meantime: look again.
    case lookAgain
    /// Sleep until the next flush or cancellation.
    case sleep
  }

  /// The reader is about to sleep.
  package mutating func waits() -> WaitAction {
    guard state == .open, !hasNews else { return .lookAgain }
    readerWaits = true
    return .sleep
  }

  package enum AbandonAction: Sendable, Equatable {
    case none
    /// Tell the producer to end the exchange.
    case endProducer
    /// The same, and wake the reader to see that it was cancelled.
    case endProducerAndResumeReader
  }

  /// The reader leaves, or its task is cancelled.
  package mutating func abandon() -> AbandonAction {
    let wasOpen = state == .open
    guard state != .finished, state != .abandoned else { return .none }
    state = .abandoned
    buffered = 0
    guard wasOpen else { return .none }
    if readerWaits {
      readerWaits = false
      return .endProducerAndResumeReader
    }
    return .endProducer
  }
}
