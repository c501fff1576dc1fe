public import Penstock

/// What a state file knows of one input.
public struct StateRecord: Sendable, Hashable {
  /// Where it is.
  public enum Progress: Int, Sendable, Hashable {
    /// It failed in its last run; another run tries it again.
    case failed = 0
    /// It succeeded; another run leaves it out.
    case done = 1
  }

  /// What the input is known by.
  public var key: String
  /// Its URL, secrets cut.
  public var url: String
  /// Where it is.
  public var progress: Progress
  /// The status of the last answer; nil when there was none.
  public var status: Int?
  /// Attempts over all runs.
  public var attempts: Int
  /// The size of the body; nil when it failed.
  public var bytes: Int64?
  /// The SHA-256 of the body in hexadecimal digits, where it was computed.
  public var sha256: String?
  /// `HTTPError.Kind` of the last failure; nil when it succeeded.
  public var errorKind: String?
  /// What the last failure said, its secrets cut.
  public var errorMessage: String?
  /// When it ended, in seconds since 1970.
  public var ended: Int64

  /// A success; `attempts` are those of this run.
  public static func done(
    _ key: String, url: String, status: Int?, attempts: Int, bytes: Int64? = nil, sha256: String? = nil
  ) -> StateRecord {
    StateRecord(
      key: key, url: Redaction.url(url), progress: .done, status: status, attempts: attempts, bytes: bytes,
      sha256: sha256,
      ended: 0)
  }

  /// A failure; `attempts` are those of this run.
  public static func failed(
    _ key: String, url: String, status: Int?, attempts: Int, error: HTTPError
  ) -> StateRecord {
    StateRecord(
      key: key, url: Redaction.url(url), progress: .failed, status: status, attempts: attempts,
      errorKind: error.kind.rawValue, errorMessage: error.message, ended: 0)
  }
}

/// How many inputs a state file knows.
public struct StateCounts: Sendable, Hashable {
  /// Those that succeeded.
  public var done: Int
  /// Those whose last run failed.
  public var failed: Int
}
