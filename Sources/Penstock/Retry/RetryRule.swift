/// One reason for a retry, with limits of its own.
public struct RetryRule: Sendable {
  /// How an attempt ended.
  public enum Outcome: Sendable {
    /// A final head came.
    case head(ResponseHead)
    /// None came.
    case failure(HTTPError)
  }

  /// Whether the rule speaks of an outcome.
  public var matches: @Sendable (Outcome) -> Bool { didSet { looksAtTroubleAlone = false } }
  /// Whether it surely doesn't match an answer of a status below 400, so that it needn't be asked.
  private(set) var looksAtTroubleAlone = false
  /// How many retries for this reason; nil: as many as the policy allows. 0: never.
  public var limit: Int?
  /// Which methods, in place of the policy's.
  public var methods: RetryPolicy.Methods?
  /// The waits, in place of the policy's.
  public var backoff: RetryBackoff?

  /// A rule of one's own.
  public init(
    limit: Int? = nil, methods: RetryPolicy.Methods? = nil, backoff: RetryBackoff? = nil,
    matches: @escaping @Sendable (Outcome) -> Bool
  ) {
    self.matches = matches
    self.limit = limit
    self.methods = methods
    self.backoff = backoff
  }

  private init(
    limit: Int?, looksAtTroubleAlone: Bool, matches: @escaping @Sendable (Outcome) -> Bool
  ) {
    self.init(limit: limit, matches: matches)
    self.looksAtTroubleAlone = looksAtTroubleAlone
  }

  /// Lost connections, time limits, and the statuses 408, 425, 429, 500, 502, 503 and 504.
  public static let standard = [connectionErrors(), timeLimits(), statuses()]

  /// The statuses that `standard` retries.
  public static let standardStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  /// A connection that couldn't be made or was lost before the head.
  public static func connectionErrors(limit: Int? = nil) -> RetryRule {
    failures(
      [
        .connectFailed, .emptyReply, .sendFailed, .receiveFailed, .connectionLost, .http2Framing,
        .http2Stream, .truncated,
      ], limit: limit)
  }

  /// Names that couldn't be resolved: not in `standard`, as most are wrong and stay so.
  public static func nameLookups(limit: Int? = nil) -> RetryRule {
    failures([.hostNotResolved, .proxyNotResolved], limit: limit)
  }

  /// The limits for connecting, the first byte and idle time. The total limit leaves no time to retry in.
  public static func timeLimits(limit: Int? = nil) -> RetryRule {
    failures([.connectTimeout, .firstByteTimeout, .idleTimeout], limit: limit)
  }

  /// These statuses.
  public static func statuses(_ codes: Set<Int> = standardStatuses, limit: Int? = nil) -> RetryRule {
    RetryRule(limit: limit, looksAtTroubleAlone: codes.allSatisfy { $0 >= 400 }) { outcome in
      if case .head(let head) = outcome { codes.contains(head.status.code) } else { false }
    }
  }

  /// These kinds of failure.
  public static func failures(_ kinds: Set<HTTPError.Kind>, limit: Int? = nil) -> RetryRule {
    RetryRule(limit: limit, looksAtTroubleAlone: true) { outcome in
      if case .failure(let error) = outcome { kinds.contains(error.kind) } else { false }
    }
  }
}
