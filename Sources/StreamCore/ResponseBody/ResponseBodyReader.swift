/// The reader's side of a `ResponseBodyStorage`: takes all that is there under one lock, then hands out a
/// slab slice at a time without one.
package final class ResponseBodyReader: PollableBodySource, @unchecked Sendable {
  // Sendable: `ResponseBodyOwner` hands it to one reader, and a reader is one task at a time.
  // One task at a time: checking each access at run time finds nothing and costs much.
  package let storage: ResponseBodyStorage
  /// The URL that was sent, normalised.
  package let url: String
  /// Body bytes to send, nil when unknown.
  package let uploadLength: Int64?
  private let low: Int
  @exclusivity(unchecked) private var items: [ExchangeItem] = []
  @exclusivity(unchecked) private var position = 0
  /// Bytes in `items` from `position` on.
  @exclusivity(unchecked) private var ahead = 0
  /// Bytes handed out that the storage doesn't know of yet.
  @exclusivity(unchecked) private var owed = 0
  @exclusivity(unchecked) private var failure: HTTPError?
  /// Whether the end of the exchange is among `items`, or was.
  @exclusivity(unchecked) private var hasEnd = false

  package init(
    _ storage: ResponseBodyStorage, watermark: Watermark, url: String = "", uploadLength: Int64? = 0
  ) {
    self.storage = storage
    self.url = url
    self.uploadLength = uploadLength
    self.low = watermark.low
  }

  deinit { if !hasEnd { storage.abandon() } }

  package func next() async throws(HTTPError) -> BodyChunk? {
    while true {
      switch try ready() {
      case .chunk(let chunk): return chunk
      case .end: return nil
      case .none: await storage.waitForNews()
      }
    }
  }

  package func ready() throws(HTTPError) -> ReadyChunk {
    // Also with chunks at hand: the peer is told at once. Nothing is left to stop where only the end is.
    if !(hasEnd && position == items.count - 1), Task.isCancelled, failure == nil {
      let hadItems = position < items.count
      abandon()
      // The storage may take these for read: to stop short of them is no end.
      if hadItems { failure = .cancelled }
    }
    return try step()
  }

  package func poll(_ wake: @escaping @Sendable () -> Void) -> BodyPoll {
    while true {
      do throws(HTTPError) {
        switch try step() {
        case .chunk(let chunk): return .chunk(chunk)
        case .end: return .end
        case .none: if storage.whenNews(wake) { return .wait }
        }
      } catch {
        return .failed(error)
      }
    }
  }

  /// Hands out the next chunk at hand, after one look into the storage.
  private func step() throws(HTTPError) -> ReadyChunk {
    if let ready = try fromItems() { return ready }
    if let failure { throw failure }
    forget()
    switch storage.takeAll() {
    case .items(let taken):
      items = taken
      for case .chunk(let chunk) in taken { ahead += chunk.count }
      switch taken.last {
      case .end, .failure: hasEnd = true
      default: break
      }
    case .wait: return .none
    case .cancelled: throw HTTPError.cancelled(phase: .body)
    case .finished: return .end
    }
    return try fromItems() ?? .none
  }

  private func fromItems() throws(HTTPError) -> ReadyChunk? {
    while position < items.count {
      let item = items[position]
      position += 1
      switch item {
      case .chunk(let chunk):
        // What is handed out isn't kept here: its memory goes with its reader, not with the last of the batch.
        items[position - 1] = .chunk(.empty)
        ahead -= chunk.count
        owed += chunk.count
        // Credit is given once a batch, when little of it is left.
        if ahead <= low { giveCredit() }
        return .chunk(chunk.compacted())
      case .failure(let error):
        forget()
        failure = error
        throw error
      case .end:
        forget()
        return .end
      case .informational, .head, .trailers:
        continue
      }
    }
    return nil
  }

  package func abandon() {
    // First: else giving credit would tell a held producer to go on.
    if !hasEnd { storage.abandon() }
    forget()
  }

  private func giveCredit() {
    storage.credit(owed)
    owed = 0
  }

  private func forget() {
    owed += ahead
    ahead = 0
    items = []
    position = 0
    if owed > 0 { giveCredit() }
  }
}
