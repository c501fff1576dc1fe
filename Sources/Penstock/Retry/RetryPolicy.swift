/// When a failed attempt is made again, how often, and after which wait. Off unless it is set on the client
/// (`ClientConfiguration.retry`) or the request (`Request.retry`).
///
/// A call is never retried once its head was handed out, so no byte of a body comes twice. Nor is one whose body
/// can't be sent again. Waits follow the server's `Retry-After` where there is one (RFC 9110 §10.2.3; it also
/// holds back other retrying calls to that origin), else exponential back-off with full jitter.
public struct RetryPolicy: Sendable {
  /// Which methods are retried, where the server may have acted on the request. Whatever the method, a request
  /// that surely wasn't sent may be retried.
  public enum Methods: Sendable, Hashable {
    /// GET, HEAD, OPTIONS and TRACE (RFC 9110 §9.2.1).
    case safe
    /// Those, PUT and DELETE (RFC 9110 §9.2.2).
    case idempotent
    /// All: for servers that recognise repeats.
    case all

    func contains(_ method: HTTPMethod) -> Bool {
      switch self {
      case .safe: method.isSafe
      case .idempotent: method.isIdempotent
      case .all: true
      }
    }
  }

  /// How many retries a call may have in all; 3. Redirects don't count, and don't start it anew.
  public var limit = 3
  /// Which methods are retried; `.idempotent`.
  public var methods = Methods.idempotent
  /// What is retried: the first rule that matches decides. `RetryRule.standard` unless set.
  public var rules = RetryRule.standard
  /// The waits where the server names none.
  public var backoff = RetryBackoff()
  /// The longest wait, `Retry-After` included, which is cut to it; 60 s.
  public var maximumDelay: Duration = .seconds(60)
  /// The time that a call may take over all attempts and waits; nil: only `TimeLimits.total` counts. No retry
  /// begins that couldn't begin within it.
  public var totalTime: Duration?
  /// Whether `Retry-After` is heeded.
  public var heedsRetryAfter = true
  /// Whether a request that isn't idempotent, under `Methods.all`, gets an `Idempotency-Key` field unless it has
  /// one. All its attempts carry the same.
  public var addsIdempotencyKey = true

  /// Whether no rule has anything to say to an answer of a status below 400.
  var looksAtTroubleAlone: Bool {
    for index in rules.indices where !rules[index].looksAtTroubleAlone { return false }
    return true
  }

  /// The first setting that can't be.
  var invalidSetting: String? {
    if limit < 0 { return "limit" }
    if maximumDelay < .zero { return "maximumDelay" }
    if backoff.base < .zero { return "backoff.base" }
    if !(1...1000).contains(backoff.factor) { return "backoff.factor" }
    if let totalTime, totalTime < .zero { return "totalTime" }
    return nil
  }

  /// The defaults.
  public init() {}

  /// The defaults with another number of retries.
  public init(limit: Int) { self.limit = limit }

  /// No retry, for a request whose client has a policy.
  public static let none = RetryPolicy(limit: 0)
}

/// The waits before retries: exponential, with full jitter (each is drawn evenly from zero to the longest of its
/// turn), so that clients which failed together don't come back together.
public struct RetryBackoff: Sendable, Hashable {
  /// The longest wait before the first retry; 0.5 s.
  public var base: Duration = .milliseconds(500)
  /// By how much it grows with each retry; 2.
  public var factor = 2.0
  /// Whether waits are drawn; else each is the longest of its turn.
  public var jitters = true

  /// The defaults.
  public init() {}

  /// The wait before the nth retry, n from 1; `random` in 0..<1.
  func delay(retry number: Int, maximum: Duration, random: Double) -> Duration {
    let base = max(0, self.base / .seconds(1))
    let longest = min(maximum / .seconds(1), base * Double.pow(max(1, factor), min(number - 1, 64)))
    return .seconds(longest * (jitters ? random : 1))
  }
}

extension Double {
  /// A whole power, without a library.
  fileprivate static func pow(_ base: Double, _ exponent: Int) -> Double {
    var result = 1.0
    for _ in 0..<max(0, exponent) {
      result *= base
      // Larger than any wait.
      if result > 1e12 { return 1e12 }
    }
    return result
  }
}

extension Request {
  /// When its failed attempts are made again, in place of the client's policy.
  public var retry: RetryPolicy? {
    get { choices.value.retry }
    set { choices.value.retry = newValue }
  }
}
