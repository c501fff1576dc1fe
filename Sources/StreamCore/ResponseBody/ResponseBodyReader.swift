/// The reader's side of a `ResponseBodyStorage`: takes all that is there under one lock, then hands out a
/// slab slice at a time without one.
package final class ResponseBodyReader: PollableBodySource, @unchecked Sendable {
  // Sendable: `ResponseBodyOwner` hands it to one reader, and a reader is one task at a time.
  // One task at a time: checking each access at run time finds nothing and costs much.
  package let storage: ResponseBodyStorage
  private let low: Int
  @exclusivity(unchecked) private var items: [ExchangeItem] = []
  @exclusivity(unchecked) private var position = 0
  /// Bytes in `items` from `position` on.
  @exclusivity(unchecked) private var ahead = 0
  /// Bytes handed out that the storage doesn't know of yet.
  @exclusivity(unchecked) private var owed = 0
  @exclusivity(unchecked) private var failure: HTTPError?

  package init(_ storage: ResponseBodyStorage, watermark: Watermark) {
    self.storage = storage
    self.low = watermark.low
  }

  package func next() async throws(HTTPError) -> BodyChunk? {
    // Also with chunks at hand: the peer is told at once.
    if Task.isCancelled, failure == nil {
      let hadItems = position < items.count
      abandon()
      // The storage may take these for read: to stop short of them is no end.
      if hadItems { failure = .cancelled }
    }
    while true {
      while position < items.count {
        let item = items[position]
        position += 1
        switch item {
        case .chunk(let chunk):
          ahead -= chunk.count
          owed += chunk.count
          // Credit is given once a batch, when little of it is left.
          if ahead <= low { giveCredit() }
          return chunk.compacted()
        case .failure(let error):
          forget()
          failure = error
          throw error
        case .end:
          forget()
          return nil
        case .informational, .head, .trailers:
          continue
        }
      }
      if let failure { throw failure }
      forget()
      switch storage.takeAll() {
      case .items(let taken):
        items = taken
        for case .chunk(let chunk) in taken { ahead += chunk.count }
      case .wait:
        await storage.waitForNews()
      case .cancelled:
        throw HTTPError.cancelled(phase: .body)
      case .finished:
        return nil
      }
    }
  }

  package func poll(_ wake: @escaping @Sendable () -> Void) -> BodyPoll {
    while true {
      while position < items.count {
        let item = items[position]
        position += 1
        switch item {
        case .chunk(let chunk):
          ahead -= chunk.count
          owed += chunk.count
          if ahead <= low { giveCredit() }
          return .chunk(chunk.compacted())
        case .failure(let error):
          forget()
          failure = error
          return .failed(error)
        case .end:
          forget()
          return .end
        case .informational, .head, .trailers:
          continue
        }
      }
      if let failure { return .failed(failure) }
      forget()
      switch storage.takeAll() {
      case .items(let taken):
        items = taken
        for case .chunk(let chunk) in taken { ahead += chunk.count }
      case .wait:
        if storage.whenNews(wake) { return .wait }
      case .cancelled: return .failed(HTTPError.cancelled(phase: .body))
      case .finished: return .end
      }
    }
  }

  package func abandon() {
    // First: else giving credit would tell a held producer to go on.
    storage.abandon()
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
