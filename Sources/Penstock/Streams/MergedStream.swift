import Synchronization

/// An element of merged streams, or the end of one of them.
public struct Merged<Element: Sendable>: Sendable {
  /// What came.
  public enum Content: Sendable {
    /// An element.
    case element(Element)
    /// The stream has come to its end, or has failed; the others go on.
    case ended(HTTPError?)
  }

  /// Which stream it is from: its place among those that were merged.
  public let source: Int
  /// What came.
  public let content: Content

  /// The element; nil for the end of a stream.
  public var element: Element? {
    if case .element(let element) = content { element } else { nil }
  }
}

/// Many streams as one: elements in the order in which they come, each with its source.
///
/// Each stream is read by a task and holds at most one element that nobody has taken. Leaving the loop ends them all.
public struct MergedStream<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Base.Element: Sendable {
  /// An element with its source, or the end of a source.
  public typealias Element = Merged<Base.Element>
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  let streams: [Base]

  /// Begins to read the streams with the first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(streams: streams) }

  /// Hands out the elements.
  public struct Iterator: AsyncIteratorProtocol {
    private let streams: [Base]
    private var lease: MergeLease<Base.Element>?

    init(streams: [Base]) { self.streams = streams }

    /// The next element or end of a stream; nil when all have ended. A failure of one stream isn't thrown: it is its
    /// `ended`.
    ///
    /// - Throws: `HTTPError.cancelled` when the task was cancelled.
    public mutating func next() async throws(HTTPError) -> Merged<Base.Element>? {
      let current = lease ?? MergeLease(.reading(streams))
      lease = current
      return try await current.storage.next()
    }

    /// The next element or end of a stream, without leaving the caller's actor.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(HTTPError) -> Merged<Base.Element>? {
      try await next()
    }
  }
}

/// Ends merged streams when their reader has gone.
private final class MergeLease<Element: Sendable>: Sendable {
  let storage: MergeStorage<Element>
  init(_ storage: MergeStorage<Element>) { self.storage = storage }
  deinit { storage.stop() }
}

/// What waits of merged streams.
private final class MergeStorage<Element: Sendable>: Sendable {
  private struct Offer: Sendable {
    let item: Merged<Element>
    /// Whoever made it waits until it is taken; true: go on.
    let owner: UnsafeContinuation<Bool, Never>?
  }

  private struct State: AwaitedState, Sendable {
    var offers: [Offer] = []
    var firstOffer = 0
    /// Streams that haven't ended.
    var live: Int
    var reader: UnsafeContinuation<Void, Never>?
    var isStopped = false
    var tasks: [Task<Void, Never>] = []
    var hasNews: Bool { isStopped || firstOffer < offers.count || live == 0 }
  }

  private let state: Mutex<State>

  private init(_ count: Int) { state = Mutex(State(live: count)) }

  static func reading<S: AsyncSequence & Sendable>(_ streams: [S]) -> MergeStorage
  where S.Element == Element {
    let storage = MergeStorage(streams.count)
    let tasks = streams.enumerated().map { index, stream in Task { await storage.feed(stream, index) } }
    storage.state.withLock { $0.tasks = tasks }
    return storage
  }

  private func feed<S: AsyncSequence & Sendable>(_ stream: S, _ index: Int) async where S.Element == Element {
    var iterator = stream.makeAsyncIterator()
    var failure: HTTPError?
    do {
      while let element = try await iterator.next(isolation: nil) {
        guard await offer(Merged(source: index, content: .element(element))) else { return }
      }
    } catch {
      failure = .ofStream(error)
    }
    _ = await offer(Merged(source: index, content: .ended(failure)))
  }

  private func offer(_ item: Merged<Element>) async -> Bool {
    await withUnsafeContinuation { continuation in
      let (answer, reader): (Bool?, UnsafeContinuation<Void, Never>?) = state.withLock { state in
        if state.isStopped { return (false, nil) }
        state.offers.append(Offer(item: item, owner: continuation))
        return (nil, state.reader.take())
      }
      reader?.resume()
      if let answer { continuation.resume(returning: answer) }
    }
  }

  private enum Look: Sendable {
    case offer(Offer)
    case wait
    case end
    case cancelled
  }

  func next() async throws(HTTPError) -> Merged<Element>? {
    while true {
      if Task.isCancelled { stop() }
      let look: Look = state.withLock { state in
        if state.isStopped { return .cancelled }
        guard state.firstOffer < state.offers.count else { return state.live == 0 ? .end : .wait }
        let offer = state.offers[state.firstOffer]
        state.firstOffer += 1
        if state.firstOffer == state.offers.count || state.firstOffer > 1024 {
          state.offers.removeFirst(state.firstOffer)
          state.firstOffer = 0
        }
        if case .ended = offer.item.content { state.live -= 1 }
        return .offer(offer)
      }
      switch look {
      case .offer(let offer):
        offer.owner?.resume(returning: true)
        return offer.item
      case .end: return nil
      case .cancelled: throw HTTPError.cancelled(phase: .body)
      case .wait: await state.waitForNews { stop() }
      }
    }
  }

  func stop() {
    let (offers, tasks, reader) = state.withLock { state in
      state.isStopped = true
      defer {
        state.offers = []
        state.firstOffer = 0
        state.tasks = []
      }
      return (state.offers.dropFirst(state.firstOffer), state.tasks, state.reader.take())
    }
    for task in tasks { task.cancel() }
    for offer in offers { offer.owner?.resume(returning: false) }
    reader?.resume()
  }
}

extension Collection where Element: AsyncSequence & Sendable, Element.Element: Sendable {
  /// These streams as one, in the order in which elements come, each with its place among them. For event sources see
  /// `Client.merge(_:)`, which needs no task for each.
  public func merged() -> MergedStream<Element> { MergedStream(streams: Array(self)) }
}
