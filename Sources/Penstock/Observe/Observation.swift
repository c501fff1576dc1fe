import Synchronization

/// One call as its observers see it: collects what `ExchangeMetrics` says, and ends exactly once.
final class Observation: Sendable {
  private struct State: Sendable {
    var head: ResponseHead?
    var facts: ExchangeFacts?
    var timeToHead: Duration?
    var received: Int64 = 0
    var decoded: Int64 = 0
    var redirects = 0
    var retries = 0
    var hasEnded = false
  }

  private static let lastID = Atomic<UInt64>(0)

  private let observers: [any ExchangeObserver]
  private let exchange: ObservedExchange
  private let begin = ContinuousClock.now
  private let state = Mutex(State())

  /// Nil where nobody observes, which is the usual case.
  static func begun(_ request: Request, _ client: Client) -> Observation? {
    let own = request.hasNoChoices ? [] : request.observers
    guard !own.isEmpty || !client.observers.isEmpty else { return nil }
    return Observation(client.observers + own, request, client)
  }

  private init(_ observers: [any ExchangeObserver], _ request: Request, _ client: Client) {
    self.observers = observers
    let secrets = Set(request.secretHeaders.map { $0.lowercased() })
    exchange = ObservedExchange(
      id: Self.lastID.wrappingAdd(1, ordering: .relaxed).newValue, method: request.method,
      url: Redaction.url(request.url),
      headers: client.headers(for: request).map { field in
        let isSecret = Redaction.isSecretField(field.name) || secrets.contains(field.name.lowercased())
        return isSecret ? HTTPFields.Field(name: field.name, value: Redaction.mark) : field
      }, bodyLength: request.body.length)
    for observer in observers { observer.started(exchange) }
  }

  deinit { end(.left) }

  func happened(_ event: TransferEvent) {
    let now = ContinuousClock.now
    let summary: TransferSummary? = state.withLock { state in
      switch event {
      case .redirect: state.redirects += 1
      case .retry: state.retries += 1
      case .head(let head):
        state.head = head.head
        state.facts = head.facts
        state.timeToHead = now - begin
      case .progress(let progress):
        state.received = progress.received
        state.decoded = progress.decoded
      case .completed(let summary):
        state.received = summary.received
        state.decoded = summary.decoded
        state.facts = summary.facts
        return summary
      default: break
      }
      return nil
    }
    if summary != nil { return end(.completed) }
    if case .body = event { return }
    for observer in observers { observer.happened(event, in: exchange) }
  }

  func failed(_ error: HTTPError) { end(error.kind == .cancelled ? .left : .failed(error)) }

  func end(_ outcome: ExchangeMetrics.Outcome) {
    let duration = ContinuousClock.now - begin
    let metrics: ExchangeMetrics? = state.withLock { state in
      if state.hasEnded { return nil }
      state.hasEnded = true
      return ExchangeMetrics(
        outcome: outcome, status: state.head?.status, version: state.head?.version, duration: duration,
        timeToHead: state.timeToHead, received: state.received, decoded: state.decoded,
        redirects: state.redirects, retries: state.retries, facts: state.facts)
    }
    guard let metrics else { return }
    for observer in observers { observer.ended(exchange, metrics) }
  }

  /// The bytes that have passed, for what ends before its next progress.
  func counted(received: Int64, decoded: Int64) {
    state.withLock { state in
      state.received = received
      state.decoded = decoded
    }
  }
}
