/// Decides when an event source connects, waits and ends (WHATWG HTML §9.2.3); does none of it.
struct EventSourceStateMachine: Sendable {
  enum Action: Sendable {
    case connect
    case read
    case wait(Duration, HTTPError?)
    case end
    case fail(HTTPError)
  }

  /// A wait after a failure is at least this before it grows.
  private static let shortestStep = Duration.milliseconds(100)

  private let options: EventSourceOptions
  private var reconnectionTime: Duration
  private var wasOpen = false
  /// Connections in a row that brought no event.
  private var fruitless = 0

  init(_ options: EventSourceOptions) {
    self.options = options
    reconnectionTime = options.reconnectionTime
  }

  /// A final head has come.
  mutating func answered(
    _ status: HTTPStatus, contentType: String?, retryAfter: Duration?, random: Double
  ) -> Action {
    if status == 204 { return .end }
    guard status == 200 else {
      let error = HTTPError(
        .httpStatus, phase: .head, message: "the server answered \(status) in place of an event stream",
        status: status)
      guard options.reconnects, options.retriedStatuses.contains(status) else { return .fail(error) }
      return again(error, atLeast: retryAfter ?? .zero, random)
    }
    guard let contentType, Self.isEventStream(contentType) else {
      return .fail(
        HTTPError(
          .contentType, phase: .head,
          message: contentType.map { "the content is \"\($0)\", no event stream" }
            ?? "the content has no type, so it is no event stream",
          advice: "The server must answer with Content-Type: text/event-stream", status: status))
    }
    wasOpen = true
    return .read
  }

  mutating func receivedEvent() { fruitless = 0 }

  /// The server has asked for this time.
  mutating func received(reconnectionTime: Duration) { self.reconnectionTime = reconnectionTime }

  /// The stream has come to its end.
  mutating func ended(random: Double) -> Action {
    guard options.reconnects else { return .end }
    return again(nil, atLeast: .zero, random)
  }

  /// The request or the stream has failed.
  mutating func failed(_ error: HTTPError, random: Double) -> Action {
    guard options.reconnects, wasOpen || options.retriesFirstConnection, error.kind.isWorthReconnecting else {
      return .fail(error)
    }
    return again(error, atLeast: .zero, random)
  }

  func waited() -> Action { .connect }

  private mutating func again(_ error: HTTPError?, atLeast: Duration, _ random: Double) -> Action {
    let before = fruitless
    fruitless += 1
    if let most = options.maximumAttempts, before >= most {
      return error.map { .fail($0) } ?? .end
    }
    return .wait(max(min(atLeast, options.maximumDelay), delay(before, random)), error)
  }

  /// The server's time, doubled for each connection in a row that brought nothing; never less than the server asked
  /// for, and spread, so that many clients don't come back at once.
  private func delay(_ fruitless: Int, _ random: Double) -> Duration {
    let least = min(max(.zero, reconnectionTime), options.maximumDelay)
    var most = least
    if fruitless > 0 {
      most = max(least, Self.shortestStep)
      for _ in 0..<min(fruitless, 20) where most < options.maximumDelay { most *= 2 }
    }
    most = min(most + least / 10, max(options.maximumDelay, least))
    return least + (most - least) * min(max(0, random), 1)
  }

  /// Whether a Content-Type names the type, whatever its parameters.
  private static func isEventStream(_ value: String) -> Bool {
    let essence = Array(value.utf8.prefix { $0 != UInt8(ascii: ";") })
    return FieldSyntax.trimmed(essence[...]).map(FieldSyntax.lower).elementsEqual("text/event-stream".utf8)
  }
}

extension HTTPError.Kind {
  /// Whether the same request may fare better later.
  var isWorthReconnecting: Bool {
    switch self {
    case .hostNotResolved, .proxyNotResolved, .connectFailed, .connectTimeout, .firstByteTimeout,
      .idleTimeout,
      .admissionTimeout, .emptyReply, .sendFailed, .receiveFailed, .connectionLost, .truncated, .tlsHandshake,
      .http2Framing, .http2Stream, .transport:
      true
    default: false
    }
  }
}
