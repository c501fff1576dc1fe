import Synchronization

/// One exchange's receiving side: filled on the loop thread, emptied by one reader task.
package final class ResponseBodyStorage: Sendable {
  private struct State: Sendable {
    var machine: ResponseBodyStateMachine
    var items: [ExchangeItem] = []
    var head: DeliveredHead?
    /// The slab that is being filled; dropped when the reader has drained it and waits.
    var tail: Slab?
    /// From here on the tail's bytes aren't among the items yet.
    var sealed = 0
    /// Whether a slab of this body was filled to its end: then the next ones are large.
    var isStreaming = false
    var reader: SleepingReader?
    var producer: (any ExchangeProducer)?
    /// How far the exchange was when its reader left.
    var phaseLeft: HTTPError.Phase?
    var uploadSent: Int64 = 0
    var reportsUpload = false
    var trailers: HTTPFields?
    var facts: CopyOnWrite<ExchangeFacts>?
    var totals: ExchangeTotals?

    init(watermark: Watermark, reportsUpload: Bool) {
      machine = ResponseBodyStateMachine(watermark: watermark)
      self.reportsUpload = reportsUpload
      // Most exchanges have a head, a chunk and an end: one block for all three, made where it is let go.
      items.reserveCapacity(3)
    }

    /// Puts what was gathered in the tail among the items: once for many pieces.
    mutating func seal() {
      guard let tail, tail.used > sealed else { return }
      items.append(.chunk(BodyChunk(slab: tail, range: sealed..<tail.used)))
      sealed = tail.used
    }

    mutating func replaceTail(_ slab: Slab?) {
      tail = slab
      sealed = 0
    }
  }

  private let state: Mutex<State>
  private let pool: SlabPool
  private let budget: MemoryBudget

  package init(pool: SlabPool, budget: MemoryBudget, watermark: Watermark, reportsUpload: Bool = false) {
    self.pool = pool
    self.budget = budget
    self.state = Mutex(State(watermark: watermark, reportsUpload: reportsUpload))
  }

  deinit {
    let left = state.withLock { $0.machine.buffered }
    budget.release(left)
  }

  /// Connects the two arrows that go back; before the exchange starts.
  package func attach(_ producer: consuming any ExchangeProducer) {
    state.withLock { $0.producer = producer }
  }

  // MARK: producer, on its own thread

  /// Holds the producer at so many bytes, if that is earlier than what was asked for.
  package func holdsAt(_ high: Int) { state.withLock { $0.machine.holdsAt(high) } }

  /// Copies body bytes in. After `.keepAndHold` the next call should wait for `readerWantsMore`.
  package func append(_ bytes: UnsafeRawBufferPointer) -> ResponseBodyStateMachine.ReceiveAction {
    let overBudget = budget.isExceeded
    let action = state.withLock { state in
      let action = state.machine.received(bytes.count, overBudget: overBudget)
      if action != .ignore { fill(bytes, &state) }
      return action
    }
    if action != .ignore { budget.reserve(bytes.count) }
    return action
  }

  private func fill(_ bytes: UnsafeRawBufferPointer, _ state: inout State) {
    var rest = bytes
    while !rest.isEmpty {
      if state.tail?.takes(rest.count) != true {
        state.seal()
        if let full = state.tail, full.capacity >= SlabPool.smallSize { state.isStreaming = true }
        state.replaceTail(
          pool.slab(
            for: state.tail == nil ? rest.count : SlabPool.exactLimit + 1, streaming: state.isStreaming))
      }
      guard let count = state.tail?.append(rest) else { return }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Puts a head or trailers in.
  package func deliver(_ item: ExchangeItem) {
    state.withLock { state in
      guard state.machine.receivedItem() == .keep else { return }
      switch item {
      case .head(let delivered): state.head = delivered
      case .trailers(let fields): state.trailers = fields
      default: break
      }
      state.seal()
      state.items.append(item)
    }
  }

  /// Counts sent body bytes; a reader who asked for it sees the latest value.
  package func uploaded(_ total: Int64) {
    state.withLock { state in
      state.uploadSent = total
      if state.reportsUpload { _ = state.machine.receivedItem() }
    }
  }

  /// Puts the last item in, and lets go of the producer.
  ///
  /// - Parameter leavesProducer: it is left to the reader, who lets go of it with the end (decision 46).
  package func finish(_ ending: ExchangeEnding, leavesProducer: Bool = false) {
    let producer = state.withLock { state in
      let isKept = state.machine.ended() == .keep
      if isKept { state.seal() }
      switch ending {
      case .complete(let facts):
        state.facts = facts
        if isKept { state.items.append(.end) }
      case .counted(let totals):
        state.totals = totals
        if isKept { state.items.append(.end) }
      case .failure(let error): if isKept { state.items.append(.failure(error)) }
      }
      state.replaceTail(nil)
      return leavesProducer && isKept ? nil : state.producer.take()
    }
    _ = producer  // released outside the lock
  }

  /// Ends the producer's turn: wakes the reader when there is news.
  package func flush() { newsTaker()?.resume() }

  /// The reader who is to be woken, as there is news; once.
  package func newsTaker() -> SleepingReader? {
    state.withLock { state in
      switch state.machine.flush() {
      case .none: nil
      case .resumeReader: state.reader.take()
      }
    }
  }

  // MARK: reader

  package enum Look: Sendable {
    case items([ExchangeItem])
    case wait
    case cancelled
    case finished
  }

  /// Takes everything that is there.
  package func takeAll() -> Look {
    let (look, producer) = state.withLock { state -> (Look, (any ExchangeProducer)?) in
      state.seal()
      switch state.machine.take(isEmpty: state.items.isEmpty) {
      case .wait: return (.wait, nil)
      case .cancelled: return (.cancelled, nil)
      case .finished: return (.finished, nil)
      case .take:
        var items: [ExchangeItem] = []
        swap(&items, &state.items)
        switch items.last {
        case .end, .failure:
          state.machine.tookEnd()
          return (.items(items), state.producer.take())
        default: return (.items(items), nil)
        }
      }
    }
    _ = producer  // released outside the lock
    return look
  }

  package enum Interim: Sendable {
    case item(ExchangeItem)
    case uploaded(Int64)
    case wait
    case cancelled
    case finished
  }

  /// Takes one item and leaves the rest, for what comes before the body.
  package func takeOne(uploadSeen: Int64) -> Interim {
    var producer: (any ExchangeProducer)?  // released outside the lock
    return state.withLock { state in
      if state.reportsUpload, state.uploadSent > uploadSeen { return .uploaded(state.uploadSent) }
      state.seal()
      switch state.machine.take(isEmpty: state.items.isEmpty) {
      case .wait: return .wait
      case .cancelled: return .cancelled
      case .finished: return .finished
      case .take:
        let item = state.items.removeFirst()
        switch item {
        case .end, .failure:
          state.machine.tookEnd()
          swap(&producer, &state.producer)
        default: break
        }
        return .item(item)
      }
    }
  }

  /// Accounts for used bytes, which may let the producer go on.
  package func credit(_ count: Int) {
    guard count > 0 else { return }
    let producer = state.withLock { state in
      let before = state.machine.buffered
      let action = state.machine.credit(count)
      budget.release(before - state.machine.buffered)
      return action == .resumeProducer ? state.producer : nil
    }
    producer?.readerWantsMore()
  }

  /// Sleeps until there is news. Cancelling the task abandons the exchange.
  package func waitForNews() async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let sleeps = state.withLock { state in
          switch state.machine.waits() {
          case .lookAgain: return false
          case .sleep:
            // A drained, idle stream holds no slab.
            state.replaceTail(nil)
            state.reader = .task(continuation)
            return true
          }
        }
        if !sleeps { continuation.resume() }
      }
    } onCancel: {
      abandon()
    }
  }

  /// Calls `wake` once, on whatever thread, when there is news; false: there is some already.
  package func whenNews(_ wake: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      switch state.machine.waits() {
      case .lookAgain: return false
      case .sleep:
        state.replaceTail(nil)
        state.reader = .callback(wake)
        return true
      }
    }
  }

  /// The reader leaves: drops what is there and ends the exchange. Harmless when it has ended.
  package func abandon() {
    let (reader, producer, isLeft, items) = state.withLock { state in
      let before = state.machine.buffered
      let action = state.machine.abandon()
      budget.release(before - state.machine.buffered)
      var items: [ExchangeItem] = []
      let producer = state.producer.take()
      if let producer, action != .none { state.phaseLeft = producer.phase }
      switch action {
      case .none:
        if state.machine.state == .abandoned { swap(&items, &state.items) }
        return (SleepingReader?.none, producer, false, items)
      case .endProducer:
        swap(&items, &state.items)
        state.replaceTail(nil)
        return (nil, producer, true, items)
      case .endProducerAndResumeReader:
        swap(&items, &state.items)
        state.replaceTail(nil)
        return (state.reader.take(), producer, true, items)
      }
    }
    _ = items  // slabs go back to the pool outside the lock
    if isLeft { producer?.readerLeft() }
    reader?.resume()
  }

  /// The error for a reader who was cancelled before the head.
  package func cancelled(url: String) -> HTTPError {
    .cancelled(phase: state.withLock { $0.phaseLeft } ?? .head, url: url)
  }

  /// The trailers, once they have come.
  package var trailers: HTTPFields? { state.withLock { $0.trailers } }
  /// The final facts, once the exchange is complete.
  package var facts: ExchangeFacts? {
    let (whole, totals, head) = state.withLock { ($0.facts, $0.totals, $0.head) }
    if let whole { return whole.value }
    guard let totals else { return nil }
    var facts = head?.facts ?? ExchangeFacts()
    facts.timings.total = totals.total
    facts.received = totals.received
    facts.sent = totals.sent
    return facts
  }
  /// Bytes that wait for the reader, for tests and gauges.
  package var buffered: Int { state.withLock { $0.machine.buffered } }
}
