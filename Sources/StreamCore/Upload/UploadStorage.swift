import Synchronization

/// One exchange's sending side: filled by a feeder task, emptied by libcurl's read callback.
package final class UploadStorage: Sendable {
  private struct State: Sendable {
    var machine: UploadStateMachine
    var chunks: [BodyChunk] = []
    /// The position in `chunks` of the first one with bytes left.
    var first = 0
    var feeder: UnsafeContinuation<Void, Never>?
    var producer: (@Sendable () -> Void)?
    var failure: HTTPError?
    var trailers = HTTPFields()
  }

  private let state: Mutex<State>
  package let length: Int64?

  package init(length: Int64?, watermark: Watermark = .standard) {
    self.length = length
    self.state = Mutex(State(machine: UploadStateMachine(watermark: watermark, length: length)))
  }

  /// Says how to tell the sender that bytes have come.
  package func attach(_ resumeSender: @escaping @Sendable () -> Void) {
    state.withLock { $0.producer = resumeSender }
  }

  // MARK: feeder

  /// Runs one body through: makes the source, feeds it at the sender's pace, and starts over when the body
  /// must be sent again.
  package func feed(
    from make: @Sendable () -> any BodySource, trailers: RequestTrailers? = nil
  ) async {
    while true {
      let epoch = state.withLock { $0.machine.epoch }
      do throws(HTTPError) {
        try await feedOnce(make(), epoch: epoch)
        if let trailers {
          let fields = try await trailers.made()
          state.withLock { $0.trailers = fields }
        }
      } catch {
        fail(error)
        return
      }
      switch complete(epoch: epoch) {
      case .restart: continue
      case .done: break
      }
      // A connection may die with the whole body fed: then it is asked for again.
      await waitForSender()
      if state.withLock({ $0.machine.epoch }) == epoch { return }
    }
  }

  private func feedOnce(_ source: any BodySource, epoch: Int) async throws(HTTPError) {
    let lease = SourceLease(source)
    defer { lease.end() }
    while let chunk = try await lease.source.next() {
      if chunk.isEmpty { continue }
      guard try await put(chunk, epoch: epoch) else { return }
    }
  }

  private enum Completion { case done, restart }

  private func complete(epoch: Int) -> Completion {
    let (completion, resume, failure) = state.withLock { state in
      switch state.machine.complete(epoch: epoch) {
      case .none: return (Completion.done, (@Sendable () -> Void)?.none, HTTPError?.none)
      case .resumeSender: return (.done, state.producer, nil)
      case .restart: return (.restart, nil, nil)
      case .tooShort(let fed):
        return (.done, nil, Self.wrongLength("only \(fed)", length))
      }
    }
    if let failure { fail(failure) }
    resume?()
    return completion
  }

  /// True: go on. False: the source isn't wanted any more.
  private func put(_ chunk: BodyChunk, epoch: Int) async throws(HTTPError) -> Bool {
    let action = state.withLock { state in
      let action = state.machine.feed(chunk.count, epoch: epoch)
      switch action {
      case .keep, .keepAndResumeSender, .keepAndWait, .keepResumeSenderAndWait: state.chunks.append(chunk)
      case .restart, .stop, .tooLong: break
      }
      return action
    }
    switch action {
    case .keep: return true
    case .keepAndResumeSender: wakeSender()
    case .keepAndWait: await waitForSender()
    case .keepResumeSenderAndWait:
      wakeSender()
      await waitForSender()
    case .restart, .stop: return false
    case .tooLong: throw Self.wrongLength("more", length)
    }
    return true
  }

  private func wakeSender() {
    let wake = state.withLock { $0.producer }
    wake?()
  }

  /// Sleeps until there is room, a restart, or the end.
  private func waitForSender() async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let waits = state.withLock { state in
        guard state.machine.feederIsWaiting else { return false }
        state.feeder = continuation
        return true
      }
      if !waits { continuation.resume() }
    }
  }

  private static func wrongLength(_ fed: String, _ length: Int64?) -> HTTPError {
    HTTPError(
      .invalidBody, phase: .request,
      message:
        "the stream that makes the request's body gave \(fed) bytes where \(length ?? 0) were announced")
  }

  /// Ends the upload with an error, which fails the exchange.
  package func fail(_ error: HTTPError) {
    let (wake, feeder) = state.withLock { state in
      if state.failure == nil { state.failure = error }
      let wakes = state.machine.close() == .resumeFeeder
      return (state.producer, wakes ? state.feeder.take() : nil)
    }
    wake?()
    feeder?.resume()
  }

  /// Puts a whole body in that is here already.
  package func fill(_ chunk: BodyChunk) {
    state.withLock { state in
      if !chunk.isEmpty {
        state.chunks.append(chunk)
        _ = state.machine.feed(chunk.count, epoch: state.machine.epoch)
      }
      _ = state.machine.complete(epoch: state.machine.epoch)
    }
  }

  // MARK: sender, on the loop thread

  package enum Read: Sendable, Equatable {
    case bytes(Int)
    case pause
    case end
    case abort
  }

  /// Copies the next bytes out.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> Read {
    let (result, feeder) = state.withLock { state -> (Read, UnsafeContinuation<Void, Never>?) in
      switch state.machine.read(capacity: buffer.count) {
      case .pause: return (.pause, nil)
      case .end: return (.end, nil)
      case .abort: return (.abort, nil)
      case .copy(let count):
        Self.copy(count, from: &state, into: buffer)
        guard state.machine.copied(count) == .resumeFeeder else { return (.bytes(count), nil) }
        return (.bytes(count), state.feeder.take())
      }
    }
    feeder?.resume()
    return result
  }

  private static func copy(_ count: Int, from state: inout State, into buffer: UnsafeMutableRawBufferPointer)
  {
    var filled = 0
    while filled < count, state.first < state.chunks.count {
      let chunk = state.chunks[state.first]
      let part = min(chunk.count, count - filled)
      chunk.withUnsafeBytes { bytes in
        buffer[filled...].copyBytes(from: bytes[..<part])
      }
      filled += part
      if part == chunk.count {
        state.chunks[state.first] = .empty
        state.first += 1
      } else {
        state.chunks[state.first] = chunk[(chunk.startIndex + part)...]
      }
    }
    if state.first == state.chunks.count {
      state.chunks.removeAll(keepingCapacity: true)
      state.first = 0
    }
  }

  /// Sends the body again from its start; `fill` or the feeder supplies it anew.
  package func restart() {
    let feeder = state.withLock { state in
      state.chunks.removeAll()
      state.first = 0
      return state.machine.restart() == .resumeFeeder ? state.feeder.take() : nil
    }
    feeder?.resume()
  }

  /// The exchange is over: nothing more is sent, and a waiting feeder goes home.
  package func close() {
    let (feeder, chunks) = state.withLock { state in
      let chunks = state.chunks
      state.chunks = []
      state.first = 0
      state.producer = nil
      let wakes = state.machine.close() == .resumeFeeder
      return (wakes ? state.feeder.take() : nil, chunks)
    }
    _ = chunks  // released outside the lock
    feeder?.resume()
  }

  /// Body bytes handed to libcurl.
  package var sent: Int64 { state.withLock { $0.machine.sent } }
  /// Whether libcurl waits for bytes.
  package var isStarved: Bool { state.withLock { $0.machine.isWaitingForFeeder } }
  /// What follows the body, once it has ended.
  package var trailers: HTTPFields { state.withLock { $0.trailers } }
  /// What the feeder failed with.
  package var failure: HTTPError? { state.withLock { $0.failure } }
}
