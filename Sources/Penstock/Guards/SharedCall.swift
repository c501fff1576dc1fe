import Synchronization

/// One exchange with several readers: what was received is kept until the slowest has it, up to a limit.
///
/// Its own task sends the request and reads the body, no faster than its readers. It ends when the last of them
/// has left.
final class SharedCall: Sendable {
  private struct State: Sendable {
    var machine: SharedBodyStateMachine
    var lastMember: UInt64 = 0
    var template: Response?
    var failure: HTTPError?
    var chunks: [BodyChunk] = []
    /// The number of the first chunk in `chunks`.
    var firstChunk = 0
    var turns: [UInt64: Turn] = [:]
    var pump: Turn?
    var task: Task<Void, Never>?
    var isOver = false
  }

  private enum Look { case chunk(BodyChunk), end, failed(HTTPError), wait(Turn) }

  private let state: Mutex<State>

  init(limit: Int) { state = Mutex(State(machine: SharedBodyStateMachine(limit: limit))) }

  /// A place among its readers; nil when the beginning is gone already, or all have left.
  func join() -> UInt64? {
    state.withLock { state in
      guard state.machine.isJoinable, !state.isOver || state.failure == nil else { return nil }
      state.lastMember += 1
      state.machine.joined(state.lastMember)
      return state.lastMember
    }
  }

  /// Sends the request.
  ///
  /// - Parameter ended: called once; whether all of a good answer is kept.
  func start(_ request: Request, _ next: MiddlewareNext, ended: @escaping @Sendable (Bool) -> Void) {
    let task = Task { [self] in
      ended(await run(request, next))
    }
    let isOver = state.withLock { state in
      state.task = task
      return state.machine.isDeserted
    }
    if isOver { task.cancel() }
  }

  private func run(_ request: Request, _ next: MiddlewareNext) async -> Bool {
    do throws(HTTPError) {
      let response = try await next(request)
      guard let source = response.body.claimSource() else { throw ResponseBody.alreadyConsumed }
      let lease = SourceLease(source)
      defer { lease.end() }
      wake { $0.template = response }
      while let chunk = try await wanted(source) {
        wake { state in
          state.chunks.append(chunk)
          state.machine.received(chunk.count)
          trim(&state)
        }
      }
      var isKept = false
      wake { state in
        state.isOver = true
        state.machine.ended()
        isKept = state.machine.isJoinable && response.status.isSuccess
      }
      return isKept
    } catch {
      wake { state in
        state.isOver = true
        state.failure = error
        state.machine.ended()
      }
      return false
    }
  }

  /// The next chunk, once a reader wants it; the loop below it holds the socket meanwhile.
  private func wanted(_ source: any BodySource) async throws(HTTPError) -> BodyChunk? {
    while true {
      let turn: Turn? = state.withLock { state in
        if state.machine.wantsMore { return nil }
        let turn = Turn()
        state.pump = turn
        return turn
      }
      guard let turn else { return try await source.next() }
      if await turn.wait(limit: nil, clock: .system) == .cancelled { throw HTTPError.cancelled(phase: .body) }
    }
  }

  // MARK: readers

  /// The response for a reader, when the head is there.
  func response(
    _ member: UInt64, limit: Duration?, clock: PipelineClock, _ request: Request
  ) async throws(HTTPError) -> Response {
    let lease = SharedLease(self, member)
    while true {
      let (template, failure, turn) = state.withLock { state -> (Response?, HTTPError?, Turn?) in
        if let template = state.template { return (template, nil, nil) }
        if let failure = state.failure { return (nil, failure, nil) }
        let turn = Turn()
        state.turns[member] = turn
        return (nil, nil, turn)
      }
      if let template { return Self.response(template, lease) }
      if let failure { throw failure }
      switch await turn?.wait(limit: limit, clock: clock) {
      case .go: continue
      case .expired:
        throw HTTPError(
          .totalTimeout, phase: .head,
          message: "the call that was joined has no answer within the total limit",
          advice: "Raise the total limit", method: request.method, url: request.url)
      case .cancelled, nil: throw HTTPError.cancelled.naming(method: request.method, url: request.url)
      }
    }
  }

  private static func response(_ template: Response, _ lease: SharedLease) -> Response {
    let body = ResponseBody(
      source: SharedBodySource(lease), contentLength: template.body.contentLength,
      isEndVerifiable: template.body.isEndVerifiable)
    return Response(
      head: template.head, url: template.url, history: template.history, facts: template.facts, body: body,
      exchange: nil, announcedLength: template.announcedLength, wireCounter: nil,
      attempts: template.attempts)
  }

  /// The chunk of this number.
  func chunk(_ number: Int, for member: UInt64) async throws(HTTPError) -> BodyChunk? {
    while true {
      var pump: Turn?
      let look: Look = state.withLock { state in
        let index = number - state.firstChunk
        if index >= 0, index < state.chunks.count {
          let chunk = state.chunks[index]
          state.machine.read(chunk.count, by: member)
          trim(&state)
          if state.machine.wantsMore { pump = state.pump.take() }
          return .chunk(chunk)
        }
        if let failure = state.failure { return .failed(failure) }
        if state.isOver { return .end }
        state.machine.waits(member)
        if state.machine.wantsMore { pump = state.pump.take() }
        let turn = Turn()
        state.turns[member] = turn
        return .wait(turn)
      }
      pump?.end(.go)
      switch look {
      case .chunk(let chunk): return chunk
      case .end: return nil
      case .failed(let error): throw error
      case .wait(let turn):
        if await turn.wait(limit: nil, clock: .system) == .cancelled {
          throw HTTPError.cancelled(phase: .body)
        }
      }
    }
  }

  /// A reader has all it wants; the last one ends the exchange.
  func leave(_ member: UInt64) {
    var pump: Turn?
    let task: Task<Void, Never>? = state.withLock { state in
      state.turns[member] = nil
      state.machine.left(member)
      trim(&state)
      if state.machine.wantsMore { pump = state.pump.take() }
      return state.machine.isDeserted && !state.isOver ? state.task.take() : nil
    }
    task?.cancel()
    pump?.end(.go)
  }

  private func wake(_ change: (inout State) -> Void) {
    let turns = state.withLock { state in
      change(&state)
      defer { state.turns = [:] }
      return Array(state.turns.values)
    }
    for turn in turns { turn.end(.go) }
  }

  /// Drops what nobody will read again.
  private func trim(_ state: inout State) {
    while let first = state.chunks.first, state.machine.mayDrop(first.count) {
      state.machine.dropped(first.count)
      state.chunks.removeFirst()
      state.firstChunk += 1
    }
  }
}

/// A reader's place in a shared call: given up when the body goes.
final class SharedLease: Sendable {
  let call: SharedCall
  let member: UInt64

  init(_ call: SharedCall, _ member: UInt64) {
    self.call = call
    self.member = member
  }

  deinit { call.leave(member) }
}

/// One reader's view of a shared body.
final class SharedBodySource: BodySource, @unchecked Sendable {
  // Sendable: a body source is used by one task at a time.
  private var lease: SharedLease?
  private var number = 0

  init(_ lease: SharedLease) { self.lease = lease }

  func next() async throws(HTTPError) -> BodyChunk? {
    guard let lease else { return nil }
    if Task.isCancelled {
      self.lease = nil
      throw HTTPError.cancelled(phase: .body)
    }
    do throws(HTTPError) {
      let chunk = try await lease.call.chunk(number, for: lease.member)
      number += 1
      if chunk == nil { self.lease = nil }
      return chunk
    } catch {
      self.lease = nil
      throw error
    }
  }

  func abandon() { lease = nil }
}
