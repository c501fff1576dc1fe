import Synchronization

/// Counts what passes, for a body that is changed above it.
final class CountedBodySource: BodySource, WireCounting {
  private let inner: any BodySource
  private let count = Atomic<Int64>(0)

  init(_ inner: any BodySource) { self.inner = inner }

  var received: Int64 { count.load(ordering: .relaxed) }

  func next() async throws(HTTPError) -> BodyChunk? {
    let chunk = try await inner.next()
    if let chunk { count.wrappingAdd(Int64(chunk.count), ordering: .relaxed) }
    return chunk
  }

  func ready() throws(HTTPError) -> ReadyChunk {
    let ready = try inner.ready()
    if case .chunk(let chunk) = ready { count.wrappingAdd(Int64(chunk.count), ordering: .relaxed) }
    return ready
  }

  func abandon() { inner.abandon() }
}

/// The chunks of a sequence that somebody made of a body. Dropping the sequence's iterator ends the body below.
final class MappedBodySource<Mapped: AsyncSequence>: BodySource, @unchecked Sendable
where Mapped.Element == BodyChunk {
  // Sendable: a body source is used by one task at a time; `abandon` only flags.
  private var iterator: Mapped.AsyncIterator?
  private let isAbandoned = Atomic<Bool>(false)

  init(_ sequence: Mapped) { iterator = sequence.makeAsyncIterator() }

  func next() async throws(HTTPError) -> BodyChunk? {
    guard !isAbandoned.load(ordering: .relaxed) else { throw HTTPError.cancelled(phase: .body) }
    guard var current = iterator else { return nil }
    iterator = nil
    do {
      let chunk = try await current.next(isolation: nil)
      if chunk != nil { iterator = current }
      return chunk
    } catch {
      throw .thrown(
        error, or: .readFailed, phase: .body, cancelled: .cancelled(phase: .body),
        "a stage that changes the body failed: \(error)")
    }
  }

  func abandon() {
    isAbandoned.store(true, ordering: .relaxed)
    iterator = nil
  }
}

/// Shows chunks as they pass, and tells once how it ended.
final class InspectedBodySource: BodySource {
  enum Ending: Sendable {
    case complete
    case failed(HTTPError)
    /// The reader left before the end.
    case left
  }

  private let inner: any BodySource
  private let chunk: (@Sendable (BodyChunk) -> Void)?
  private let ended: Mutex<(@Sendable (Ending) -> Void)?>

  init(
    _ inner: any BodySource, chunk: (@Sendable (BodyChunk) -> Void)?,
    ended: @escaping @Sendable (Ending) -> Void
  ) {
    self.inner = inner
    self.chunk = chunk
    self.ended = Mutex(ended)
  }

  deinit { end(.left) }

  func next() async throws(HTTPError) -> BodyChunk? {
    do throws(HTTPError) {
      guard let next = try await inner.next() else {
        end(.complete)
        return nil
      }
      chunk?(next)
      return next
    } catch {
      throw failed(error)
    }
  }

  func ready() throws(HTTPError) -> ReadyChunk {
    do throws(HTTPError) {
      let ready = try inner.ready()
      switch ready {
      case .chunk(let next): chunk?(next)
      case .end: end(.complete)
      case .none: break
      }
      return ready
    } catch {
      throw failed(error)
    }
  }

  private func failed(_ error: HTTPError) -> HTTPError {
    end(error.kind == .cancelled ? .left : .failed(error))
    return error
  }

  func abandon() {
    inner.abandon()
    end(.left)
  }

  private func end(_ ending: Ending) { ended.withLock { $0.take() }?(ending) }
}
