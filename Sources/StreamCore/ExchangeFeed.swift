import Synchronization

/// The other end of an exchange, for a transport of your own: what is put in here comes out of the exchange, in
/// order and at its reader's pace.
///
/// ```swift
/// struct Echo: Transport {
///   func open(_ request: TransportRequest) throws(HTTPError) -> Exchange {
///     let (exchange, feed) = Exchange.fed(url: request.url, watermark: request.options.watermark)
///     Task {
///       feed.head(ResponseHead(status: 200))
///       await feed.write(Array("hello".utf8))
///       feed.finish()
///     }
///     return exchange
///   }
/// }
/// ```
///
/// One task at a time feeds it. After `finish`, `fail` or the reader's leaving nothing more is taken.
public final class ExchangeFeed: Sendable {
  private struct State: Sendable {
    var hasEnded = false
    var readerHasLeft = false
    /// Whether the reader has asked for more since the last bytes were put in.
    var isWanted = false
    var waiter: UnsafeContinuation<Void, Never>?
    var onLeave: (@Sendable () -> Void)?
  }

  /// What the storage tells us through: it holds this, and not the feed.
  private final class Demand: ExchangeProducer {
    let state = Mutex(State())
    func readerWantsMore() { goOn(leaving: false) }
    func readerLeft() { goOn(leaving: true) }

    private func goOn(leaving: Bool) {
      let (waiter, onLeave) = state.withLock { state in
        state.isWanted = true
        if leaving { state.readerHasLeft = true }
        return (state.waiter.take(), leaving ? state.onLeave.take() : nil)
      }
      waiter?.resume()
      onLeave?()
    }
  }

  private static let pool = SlabPool(keep: 4)
  private static let budget = MemoryBudget(limit: .max)

  private let storage: ResponseBodyStorage
  private let demand = Demand()

  fileprivate init(_ storage: ResponseBodyStorage) {
    self.storage = storage
    storage.attach(demand)
  }

  deinit {
    guard !demand.state.withLock({ $0.hasEnded }) else { return }
    storage.finish(
      .failure(
        HTTPError(.transport, phase: .body, message: "the transport let go of the exchange without ending it")
      ))
    storage.flush()
  }

  /// Whether the reader has gone: dropped the response, or was cancelled.
  public var readerHasLeft: Bool { demand.state.withLock { $0.readerHasLeft } }

  /// Calls `body` once when the reader goes before the end, or now when it has gone.
  public func onLeave(_ body: @escaping @Sendable () -> Void) {
    let isGone = demand.state.withLock { state in
      if !state.readerHasLeft { state.onLeave = body }
      return state.readerHasLeft
    }
    if isGone { body() }
  }

  /// Gives a 1xx head.
  public func informational(_ head: ResponseHead) { put(.informational(head)) }

  /// Gives the final head; once, and before any body byte.
  public func head(_ head: ResponseHead, facts: ExchangeFacts = ExchangeFacts()) { put(.head(head, facts)) }

  /// Says how many bytes of the request's body were sent.
  public func uploaded(_ total: Int64) {
    storage.uploaded(total)
    storage.flush()
  }

  /// Gives body bytes, and returns when the reader wants more: above its high watermark that is when it has
  /// read down to the low one. Returns at once when it has gone.
  public func write(_ bytes: some Sequence<UInt8>) async {
    let chunk = (bytes as? BodyChunk) ?? BodyChunk(bytes)
    guard !chunk.isEmpty else { return }
    demand.state.withLock { $0.isWanted = false }
    let action = chunk.withUnsafeBytes { storage.append($0) }
    storage.flush()
    guard action == .keepAndHold else { return }
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let waits = demand.state.withLock { state in
        if state.readerHasLeft || state.isWanted { return false }
        state.waiter = continuation
        return true
      }
      if !waits { continuation.resume() }
    }
  }

  /// Gives the trailers, after the body.
  public func trailers(_ fields: HTTPFields) { put(.trailers(fields)) }

  /// Ends the exchange well.
  public func finish(_ facts: ExchangeFacts = ExchangeFacts()) { end(.complete(CopyOnWrite(facts))) }

  /// Ends the exchange with an error, which the reader gets behind the bytes that it hasn't read yet.
  public func fail(_ error: HTTPError) { end(.failure(error)) }

  private func put(_ item: ExchangeItem) {
    storage.deliver(item)
    storage.flush()
  }

  private func end(_ ending: ExchangeEnding) {
    let isFirst = demand.state.withLock { state in
      defer { state.hasEnded = true }
      return !state.hasEnded
    }
    guard isFirst else { return }
    storage.finish(ending)
    storage.flush()
  }
}

extension Exchange {
  /// An exchange and the end that feeds it, for a transport of your own.
  ///
  /// - Parameters:
  ///   - url: where the request went, normalised as your transport sent it.
  ///   - watermark: how many bytes wait for the reader: `TransportRequest.options.watermark`.
  ///   - uploadLength: body bytes to send, nil when unknown.
  ///   - reportsUpload: `TransportRequest.options.reportsUpload`.
  public static func fed(
    url: String, watermark: Watermark = .standard, uploadLength: Int64? = 0, reportsUpload: Bool = false
  ) -> (Exchange, ExchangeFeed) {
    let storage = ExchangeFeed.storage(watermark, reportsUpload)
    return (
      Exchange(storage, watermark: watermark, url: url, uploadLength: uploadLength), ExchangeFeed(storage)
    )
  }
}

extension ExchangeFeed {
  fileprivate static func storage(_ watermark: Watermark, _ reportsUpload: Bool) -> ResponseBodyStorage {
    ResponseBodyStorage(pool: pool, budget: budget, watermark: watermark, reportsUpload: reportsUpload)
  }
}
