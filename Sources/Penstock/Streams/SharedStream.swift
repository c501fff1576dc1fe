import Synchronization

/// One stream for several readers. A task reads it, only when a reader wants more than there is.
final class SharedStorage<Element: Sendable>: Sendable {
  private struct State: Sendable {
    var machine: SharedStateMachine<Element>
    var sleepers = Sleepers<Int>()
    var feeder: UnsafeContinuation<Bool, Never>?
    /// The feeder was told to read before it waited.
    var mayRead = false
    var isStopped = false
    var task: Task<Void, Never>?
  }

  private let state: Mutex<State>
  private let cost: @Sendable (Element) -> Int

  init(readers: Int, rule: SharingRule, cost: @escaping @Sendable (Element) -> Int) {
    state = Mutex(State(machine: SharedStateMachine(readers: readers, rule: rule)))
    self.cost = cost
  }

  /// Starts the task, which holds the stream.
  func read<S: AsyncSequence & Sendable>(_ stream: S) where S.Element == Element {
    let task = Task { await feed(stream) }
    state.withLock { $0.task = task }
  }

  private func feed<S: AsyncSequence & Sendable>(_ stream: S) async where S.Element == Element {
    var iterator = stream.makeAsyncIterator()
    while await mayRead() {
      do {
        guard let element = try await iterator.next(isolation: nil) else { return wake { $0.ended(nil) } }
        let cost = cost(element)
        wake { $0.received(element, cost: cost) }
      } catch {
        return wake { $0.ended(.ofStream(error)) }
      }
    }
  }

  private func mayRead() async -> Bool {
    await withUnsafeContinuation { continuation in
      let answer: Bool? = state.withLock { state in
        if state.isStopped { return false }
        if state.mayRead {
          state.mayRead = false
          return true
        }
        state.feeder = continuation
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
  }

  private func wake(_ event: @Sendable (inout SharedStateMachine<Element>) -> Set<Int>) {
    let woken = state.withLock { state in
      event(&state.machine).compactMap { state.sleepers.wake($0) }
    }
    for sleeper in woken { sleeper.resume() }
  }

  private enum Step: Sendable {
    case element(Element)
    case end
    case fail(HTTPError)
    case wait
  }

  func next(_ reader: Int) async throws(HTTPError) -> Element? {
    while true {
      if Task.isCancelled {
        leave(reader)
        throw HTTPError.cancelled(phase: .body)
      }
      let (step, feeder): (Step, UnsafeContinuation<Bool, Never>?) = state.withLock { state in
        switch state.machine.next(reader) {
        case .element(let element): return (.element(element), nil)
        case .elementAndRead(let element): return (.element(element), Self.told(&state))
        case .wait: return (.wait, nil)
        case .waitAndRead: return (.wait, Self.told(&state))
        case .end: return (.end, nil)
        case .fail(let error): return (.fail(error), nil)
        }
      }
      feeder?.resume(returning: true)
      switch step {
      case .element(let element): return element
      case .end: return nil
      case .fail(let error): throw error
      case .wait: await sleep(reader)
      }
    }
  }

  /// The feeder is to read: itself if it waits, else it will find out.
  private static func told(_ state: inout State) -> UnsafeContinuation<Bool, Never>? {
    guard let feeder = state.feeder.take() else {
      state.mayRead = true
      return nil
    }
    return feeder
  }

  private func sleep(_ reader: Int) async {
    // The machine may have woken this reader before it slept.
    await state.sleep(reader, in: \.sleepers) {
      $0.machine.isWaiting(reader)
    } onCancel: { [self] in
      leave(reader)
    }
  }

  /// A reader has gone; with the last one the stream ends.
  func leave(_ reader: Int) {
    let (sleeper, feeder, answer, task) = state.withLock { state in
      let sleeper = state.sleepers.wake(reader)
      switch state.machine.left(reader) {
      case .none: return (sleeper, UnsafeContinuation<Bool, Never>?.none, false, Task<Void, Never>?.none)
      case .read: return (sleeper, Self.told(&state), true, nil)
      case .stop:
        state.isStopped = true
        return (sleeper, state.feeder.take(), false, state.task.take())
      }
    }
    task?.cancel()
    feeder?.resume(returning: answer)
    sleeper?.resume()
  }
}

/// One of the readers of a shared stream; see `AsyncSequence.shared(among:rule:)`.
public struct SharedStream<Element: Sendable>: AsyncSequence, Sendable {
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  private let lease: Lease

  init(_ storage: SharedStorage<Element>, reader: Int) { lease = Lease(storage, reader) }

  /// The place of one reader, which goes with the last copy of it.
  final class Lease: Sendable {
    let storage: SharedStorage<Element>
    let reader: Int
    private let isTaken = Atomic<Bool>(false)

    init(_ storage: SharedStorage<Element>, _ reader: Int) {
      self.storage = storage
      self.reader = reader
    }

    deinit { storage.leave(reader) }

    func claim() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
  }

  /// The one iterator of this reader; a second one throws `HTTPError.Kind.alreadyConsumed`.
  public func makeAsyncIterator() -> Iterator { Iterator(lease: lease.claim() ? lease : nil) }

  /// Hands out the elements.
  public struct Iterator: AsyncIteratorProtocol {
    let lease: Lease?

    /// The next element, nil at the end.
    ///
    /// - Throws: `HTTPError.Kind.readerTooSlow` for a reader that was left behind, and what the stream throws.
    public mutating func next() async throws(HTTPError) -> Element? {
      guard let lease else { throw ResponseBody.alreadyConsumed }
      return try await lease.storage.next(lease.reader)
    }

    /// The next element, without leaving the caller's actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(HTTPError) -> Element? {
      try await next()
    }
  }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// Several readers for this stream, each of which gets all of it. Drop those that you don't need: a reader that exists
  /// counts. The stream ends with the last one.
  ///
  /// - Parameter rule: which reader sets the pace, and how many elements may be held for the others.
  public func shared(
    among count: Int, rule: SharingRule = .slowest(holding: 64)
  ) -> [SharedStream<Element>] {
    let storage = SharedStorage<Element>(readers: Swift.max(0, count), rule: rule) { _ in 1 }
    if count > 0 { storage.read(self) }
    return (0..<Swift.max(0, count)).map { SharedStream(storage, reader: $0) }
  }
}

extension ResponseBody {
  /// Several bodies, each of which has all the bytes of this one, which are shared and not copied. Drop those that
  /// you don't need: a reader that exists counts. The exchange ends with the last one.
  ///
  /// ```swift
  /// let bodies = response.body.shared(among: 2)
  /// async let count = bodies[0].written(to: "/tmp/copy")
  /// for try await row in bodies[1].jsonLines(of: Row.self) { … }
  /// ```
  ///
  /// - Parameter rule: which reader sets the pace, and how many bytes may be held for the others.
  public func shared(
    among count: Int, rule: SharingRule = .slowest(holding: 1 << 20)
  ) -> [ResponseBody] {
    let storage = SharedStorage<BodyChunk>(readers: Swift.max(0, count), rule: rule) { $0.count }
    if count > 0 { storage.read(self) }
    return (0..<Swift.max(0, count)).map { reader in
      ResponseBody(
        source: SharedSource(SharedStream.Lease(storage, reader)), contentLength: contentLength,
        isEndVerifiable: isEndVerifiable, origin: origin)
    }
  }
}

/// The place of one reader as a body.
private final class SharedSource: BodySource {
  private let lease: SharedStream<BodyChunk>.Lease

  init(_ lease: SharedStream<BodyChunk>.Lease) { self.lease = lease }

  func next() async throws(HTTPError) -> BodyChunk? { try await lease.storage.next(lease.reader) }
  func abandon() { lease.storage.leave(lease.reader) }
}
