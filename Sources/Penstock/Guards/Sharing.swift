import Synchronization

/// Lets equal GET requests share one exchange: those that come while one is under way join it, and for a short
/// time after it the same answer is given again.
///
/// ```swift
/// configuration.middlewares = [.sharing()]                          // join what is under way
/// configuration.middlewares = [.sharing(replay: .seconds(10))]      // and answer again for 10 s
/// ```
///
/// Each caller gets the body as a stream of its own. What one of them has read waits for the slowest, up to
/// `bodyLimit`; then the faster ones wait. A larger body can't be joined any more once its beginning is gone. The
/// time limits are those of the call that was first; the exchange ends when all who share it have left. Trailers
/// aren't shared. A request with middlewares of its own is shared only where the sharing is among them.
public final class Sharing: Middleware {
  private struct Kept: Sendable {
    let call: SharedCall
    /// Until when it may be given again; nil while it is under way.
    var until: MonotonicInstant?
  }

  private let key: GuardKey
  private let replay: Duration?
  private let bodyLimit: Int
  private let keepLimit: Int
  private let observer: GuardObserver?
  private let calls = Mutex<[String: Kept]>([:])

  /// A sharing of calls.
  ///
  /// - Parameters:
  ///   - key: what counts as equal; nil: method, URL and all fields of a GET request without a body.
  ///   - replay: for how long a complete 2xx answer is given again; nil: not at all.
  ///   - bodyLimit: how much of a body is kept for those who join; 1 MiB. Larger ones aren't given again.
  ///   - keepLimit: how many answers are kept at most; 64.
  ///   - observer: gets `joined` and `replayed`.
  public init(
    by key: GuardKey? = nil, replay: Duration? = nil, bodyLimit: ByteCount = .mebibytes(1),
    keepLimit: Int = 64, observer: GuardObserver? = nil
  ) {
    self.key = key ?? Self.equalRequests
    self.replay = replay
    self.bodyLimit = Int(clamping: max(1, bodyLimit.bytes))
    self.keepLimit = max(1, keepLimit)
    self.observer = observer
  }

  /// GET requests without a body, by URL and all their fields. Those that go another way than their client's
  /// others (credentials, TLS, addresses, decoding of their own) stay alone.
  public static let equalRequests = GuardKey { request in
    guard request.method == .get, request.body.isEmpty,
      request.hasNoChoices || request.choices.value.goTheClientsWay
    else { return nil }
    var key = request.url
    for field in request.headers { key += "\n\(field.name.lowercased()): \(field.value)" }
    return key
  }

  /// How many calls are under way or kept.
  public var count: Int { calls.withLock { $0.count } }

  /// Joins an equal call, gives its answer again, or makes it.
  public func intercept(
    _ request: Request, _ context: MiddlewareContext, next: MiddlewareNext
  ) async throws(HTTPError) -> Response {
    guard let key = key(request), isAlike(request) else { return try await next(request) }
    let (call, member, event) = call(for: key, context.clock)
    if let event {
      observer?(event)
    } else {
      call.start(request, next) { [weak self] isComplete in
        self?.ended(key, call, isComplete: isComplete, context.clock)
      }
    }
    return try await call.response(member, limit: context.timeLeft, clock: context.clock, request)
  }

  /// Whether nothing stands inside of it that another request of the same key may not have: stages of the request's
  /// own see the first of those that share an exchange alone. Where it is one of them itself, its user knows.
  private func isAlike(_ request: Request) -> Bool {
    if request.hasNoChoices { return true }
    let own = request.middlewares
    return own.isEmpty || own.contains { ($0 as? Sharing) === self }
  }

  private func call(
    for key: String, _ clock: PipelineClock
  ) -> (SharedCall, member: UInt64, GuardEvent?) {
    let now = clock.now()
    return calls.withLock { calls in
      if let until = calls[key]?.until, until <= now { calls[key] = nil }
      if let kept = calls[key], let member = kept.call.join() {
        return (kept.call, member, kept.until == nil ? .joined : .replayed)
      }
      let call = SharedCall(limit: bodyLimit)
      calls[key] = Kept(call: call)
      return (call, call.join() ?? 0, nil)
    }
  }

  private func ended(_ key: String, _ call: SharedCall, isComplete: Bool, _ clock: PipelineClock) {
    let now = clock.now()
    calls.withLock { calls in
      guard calls[key]?.call === call else { return }
      guard isComplete, let replay else {
        calls[key] = nil
        return
      }
      calls[key]?.until = now + replay
      Self.forgetOver(&calls, now)
      let over = calls.filter { $0.value.until != nil }
      if over.count > keepLimit,
        let oldest = over.min(by: { ($0.value.until ?? now) < ($1.value.until ?? now) })
      {
        calls[oldest.key] = nil
      }
    }
  }

  /// Drops answers whose time is over.
  private static func forgetOver(_ calls: inout [String: Kept], _ now: MonotonicInstant) {
    for (key, kept) in calls {
      if let until = kept.until, until <= now { calls[key] = nil }
    }
  }
}

extension RequestChoices {
  /// Whether what was chosen changes neither what is sent nor whom it is sent to, so that the answer to one such
  /// request is an answer to all.
  var goTheClientsWay: Bool {
    guard case .ofClient = cookies, !isResumable, authorizer == nil, !isExemptFromAuthorization else {
      return false
    }
    return tls == nil && addressing == nil && version == nil && decodesContent == nil && redirects == nil
      && withoutDefaults.isEmpty && secretHeaders.isEmpty && values.isEmpty
  }
}

extension Middleware where Self == Sharing {
  /// Lets equal GET requests share one exchange; see `Sharing`.
  public static func sharing(
    by key: GuardKey? = nil, replay: Duration? = nil, bodyLimit: ByteCount = .mebibytes(1)
  ) -> Sharing { Sharing(by: key, replay: replay, bodyLimit: bodyLimit) }
}
