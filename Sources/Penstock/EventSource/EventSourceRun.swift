/// One run of an event source: connects, reads, waits. One task at a time drives it.
final class EventSourceRun: @unchecked Sendable {
  // Sendable: the one iterator's task is the only one that calls it.
  /// How time passes and dice fall; tests put their own in place.
  struct Surroundings: Sendable {
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    var random: @Sendable () -> Double = { .random(in: 0..<1) }
  }

  private let client: Client
  private var request: Request
  private let options: EventSourceOptions
  private let surroundings: Surroundings
  private let begin = ContinuousClock.now
  private var machine: EventSourceStateMachine
  private var action = EventSourceStateMachine.Action.connect
  private var reader: FrameReader<ServerSentEventFramer>?
  /// Events that were read together.
  private var batch: [ServerSentEvent] = []
  private var position = 0
  /// The stream that was opened and isn't read yet.
  private var body: ResponseBody?
  private var attempt = 0
  private(set) var lastEventID: String

  init(_ request: Request, client: Client, options: EventSourceOptions, surroundings: Surroundings) {
    self.client = client
    self.options = options
    self.surroundings = surroundings
    machine = EventSourceStateMachine(options)
    var request = request
    request.isLongLived = true
    // Here attempts are counted over the whole life of the source.
    if request.retry == nil { request.retry = RetryPolicy.none }
    if !request.headers.contains("Accept") { request.headers.append("Accept", "text/event-stream") }
    if !request.headers.contains("Cache-Control") { request.headers.append("Cache-Control", "no-store") }
    lastEventID = options.lastEventID
    if lastEventID.isEmpty { lastEventID = request.headers["Last-Event-ID"] ?? "" }
    self.request = request
  }

  func next() async throws(HTTPError) -> ServerSentEvent? {
    while true {
      if position < batch.count {
        defer { position += 1 }
        return batch[position]
      }
      if reader != nil {
        await refill()
      } else {
        guard let body = try await open() else { return nil }
        reader = FrameReader(body, framer)
      }
    }
  }

  /// Reads the next events, or notes that the stream is over.
  private func refill() async {
    guard var current = reader else { return }
    // Out of the properties meanwhile, so that nothing is copied.
    reader = nil
    var events = batch
    batch = []
    position = 0
    var failure: HTTPError?
    do throws(HTTPError) {
      if try await current.read(into: &events) {
        reader = current
        batch = events
        received()
        return
      }
    } catch {
      failure = error
    }
    closed(current.framer, failure)
  }

  /// Connects, after as many waits and attempts as it takes; nil when the source is at its end.
  func open() async throws(HTTPError) -> ResponseBody? {
    while true {
      switch try await attempted() {
      case .open(let body): return body
      case .mustPause: await pause()
      case .ended: return nil
      }
    }
  }

  /// How far one attempt came.
  enum Attempt: Sendable {
    case open(ResponseBody)
    /// `pause()`, then try again.
    case mustPause
    case ended
  }

  /// Connects once, unless there is a wait before that.
  func attempted() async throws(HTTPError) -> Attempt {
    if case .connect = action { action = await connected() }
    switch action {
    case .connect, .wait: return .mustPause
    case .read:
      guard let body else { return .ended }
      self.body = nil
      return .open(body)
    case .end: return .ended
    case .fail(let error): throw error
    }
  }

  /// Waits for as long as it must before the next attempt.
  func pause() async {
    guard case .wait(let delay, let error) = action else { return }
    options.onChange?(.waiting(delay, error))
    action = await waited(delay)
  }

  /// What reads the stream that is open.
  var framer: ServerSentEventFramer {
    ServerSentEventFramer(limit: options.eventLimit, lastEventID: lastEventID)
  }

  /// An event was read.
  func received() { machine.receivedEvent() }

  /// The stream is over.
  func closed(_ framer: ServerSentEventFramer, _ failure: HTTPError?) {
    lastEventID = framer.lastEventID
    if let time = framer.reconnectionTime { machine.received(reconnectionTime: time) }
    if let failure {
      action = machine.failed(failure, random: surroundings.random())
    } else {
      action = machine.ended(random: surroundings.random())
    }
  }

  private func connected() async -> EventSourceStateMachine.Action {
    attempt += 1
    options.onChange?(.connecting(attempt: attempt, lastEventID: lastEventID))
    var request = request
    request.headers.removeAll("Last-Event-ID")
    if !lastEventID.isEmpty { request.headers.append("Last-Event-ID", lastEventID) }
    if let left = timeLeft {
      guard left > .zero else { return .fail(timedOut) }
      var timeouts = request.timeouts ?? client.configuration.timeouts
      timeouts.total = left
      request.timeouts = timeouts
    }
    let response: Response
    do throws(HTTPError) {
      response = try await client.send(request)
    } catch {
      return machine.failed(error, random: surroundings.random())
    }
    let origin = BodyOrigin(method: request.method, url: response.url, status: response.status)
    let action = machine.answered(
      response.status, contentType: response.headers["Content-Type"],
      retryAfter: response.headers["Retry-After"].flatMap(Self.delay), random: surroundings.random())
    switch action {
    case .read:
      options.onChange?(.open(response.head, url: response.url))
      let isLimited = options.bodyLimit < .unlimited
      body = isLimited ? response.body.limited(to: options.bodyLimit) : response.body
      return action
    case .fail(let error): return .fail(origin.naming(error))
    case .connect, .wait, .end: return action
    }
  }

  private func waited(_ delay: Duration) async -> EventSourceStateMachine.Action {
    let left = timeLeft ?? delay
    do {
      try await client.ending.wait { [sleep = surroundings.sleep] in
        try await sleep(min(delay, max(.zero, left)))
      }
    } catch {
      if let error = error as? HTTPError {
        return .fail(error.naming(method: request.method, url: request.url))
      }
      return .fail(HTTPError.cancelled(phase: .body, url: request.url))
    }
    return left < delay ? .fail(timedOut) : machine.waited()
  }

  /// What is left of the limit on all of it, waits included.
  private var timeLeft: Duration? {
    (request.timeouts ?? client.configuration.timeouts).total.map { $0 - (ContinuousClock.now - begin) }
  }

  private var timedOut: HTTPError {
    HTTPError(
      .totalTimeout, phase: .body, message: "the event source was open for as long as it may be",
      method: request.method, url: request.url)
  }

  private static func delay(_ value: String) -> Duration? {
    guard case .seconds(let seconds) = RetryAfter(value) else { return nil }
    return .seconds(min(seconds, 1 << 31))
  }
}
