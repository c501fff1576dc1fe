import Synchronization

/// Reads a multipart body for the iterator of its parts and for the one part that is open.
final class MultipartReader: Sendable {
  fileprivate struct State: Sendable {
    var parser: MultipartParser
    /// Events that nobody has taken, the next one last.
    var events: [MultipartParser.Event] = []
    /// The number of the part that is open.
    var part = 0
    var isInPart = false
    var hasEnded = false
    var failure: HTTPError?
    /// Somebody reads: two at once would take each other's bytes.
    var isBusy = false
  }

  private let lease: SourceLease?
  private let origin: BodyOrigin?
  private let state: Mutex<State>

  init(_ body: ResponseBody, boundary: String) {
    origin = body.origin
    lease = body.claimSource().map(SourceLease.init)
    state = Mutex(State(parser: MultipartParser(boundary: boundary)))
  }

  func nextPart() async throws(HTTPError) -> MultipartPart? {
    try enter()
    defer { leave() }
    while let event = try await next() {
      guard case .head(let fields) = event else { continue }
      let part = state.withLock { state in
        state.part += 1
        state.isInPart = true
        return state.part
      }
      return MultipartPart(
        headers: fields,
        body: ResponseBody(source: PartSource(self, part), origin: origin))
    }
    return nil
  }

  /// The next chunk of a part, nil at its end.
  func nextChunk(of part: Int) async throws(HTTPError) -> BodyChunk? {
    try enter()
    defer { leave() }
    let isOpen: Bool? = state.withLock { $0.part == part ? $0.isInPart : nil }
    guard let isOpen else { throw ResponseBody.alreadyConsumed }
    guard isOpen, let event = try await next() else { return nil }
    if case .body(let chunk) = event { return chunk }
    return nil
  }

  private func enter() throws(HTTPError) {
    let isFree = state.withLock { state in
      defer { state.isBusy = true }
      return !state.isBusy
    }
    if !isFree {
      throw HTTPError(
        .alreadyConsumed, phase: .body, message: "a part is being read while the next one is asked for",
        advice: "Read each part to its end before the next one")
    }
  }

  private func leave() { state.withLock { $0.isBusy = false } }

  private func next() async throws(HTTPError) -> MultipartParser.Event? {
    guard let lease else { throw ResponseBody.alreadyConsumed }
    while true {
      let (event, hasEnded, failure) = state.withLock { state in
        let event = state.events.popLast()
        if case .partEnd? = event { state.isInPart = false }
        return (event, state.hasEnded, state.failure)
      }
      if let event { return event }
      if let failure { throw failure }
      if hasEnded { return nil }
      do throws(HTTPError) {
        let chunk = try await lease.source.next()
        let error = state.withLock { $0.take(chunk) }
        if let error { throw error }
      } catch {
        let error = origin?.naming(error) ?? error
        lease.source.abandon()
        state.withLock { $0.failure = error }
      }
    }
  }
}

extension MultipartReader.State {
  /// A chunk, or the end.
  fileprivate mutating func take(_ chunk: BodyChunk?) -> HTTPError? {
    var new: [MultipartParser.Event] = []
    defer { events = new.reversed() }
    do throws(HTTPError) {
      if let chunk {
        try parser.feed(chunk, into: &new)
      } else {
        hasEnded = true
        try parser.finish()
      }
      return nil
    } catch {
      return error
    }
  }
}

/// The content of one part.
private final class PartSource: BodySource {
  private let reader: MultipartReader
  private let part: Int

  init(_ reader: MultipartReader, _ part: Int) {
    self.reader = reader
    self.part = part
  }

  func next() async throws(HTTPError) -> BodyChunk? { try await reader.nextChunk(of: part) }

  /// The parts behind it can still be read.
  func abandon() {}
}
