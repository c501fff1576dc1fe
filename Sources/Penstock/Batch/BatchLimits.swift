/// How much of a batch is under way at once. The limits of the client hold beside these: a batch that is to have
/// more than `ClientConfiguration.Limits` needs a client that has more.
public struct BatchLimits: Sendable, Hashable {
  /// Exchanges in all; 64. A transform that still reads its body counts.
  public var total: Int
  /// Exchanges per host (scheme, name and port); 8.
  public var perHost: Int
  /// Starts per host in a given time; no limit by default.
  public var ratePerHost: BatchRate?
  /// Body bytes of running exchanges and of results that nobody has taken. What is running is reckoned at its
  /// Content-Length, or at what bodies had on average; one exchange always runs. Nil: 256 MiB where bodies are
  /// collected, no limit where they stream.
  public var bytesInFlight: ByteCount?
  /// Lets the number of exchanges per host follow latency and errors, up to `perHost`; nil leaves it fixed.
  public var adaptation: BatchAdaptation?
  /// Whether a batch begins with 16 exchanges and grows from there, within about 100 ms; true.
  public var rampsUp = true
  /// The longest time that a host's `Retry-After` (RFC 9110 §10.2.3) holds it back; 60 s. Others go on meanwhile.
  public var longestHold = Duration.seconds(60)
  /// How many inputs may be read ahead while those that were read wait for their hosts; 4,096. It is what
  /// keeps many hosts busy beside a slow one, and what memory is bounded by. In a batch that fails fast no more
  /// than `total`.
  public var lookahead = 4096

  /// The defaults, but for these.
  public init(total: Int = 64, perHost: Int = 8, ratePerHost: BatchRate? = nil) {
    self.total = total
    self.perHost = perHost
    self.ratePerHost = ratePerHost
  }

  /// The same, as it holds where bodies are collected.
  var whereCollected: BatchLimits {
    var limits = self
    limits.bytesInFlight = bytesInFlight ?? .mebibytes(256)
    return limits
  }

  /// The first setting that can't be.
  var invalidSetting: String? {
    if total < 1 { return "total" }
    if perHost < 1 { return "perHost" }
    if let rate = ratePerHost, !rate.isValid { return "ratePerHost" }
    if let bytesInFlight, bytesInFlight.bytes < 1 { return "bytesInFlight" }
    if longestHold < .zero { return "longestHold" }
    if lookahead < 1 { return "lookahead" }
    if let adaptation {
      if adaptation.minimum < 1 { return "adaptation.minimum" }
      if adaptation.initial < 1 { return "adaptation.initial" }
      if !(adaptation.tolerance >= 1) { return "adaptation.tolerance" }
    }
    return nil
  }
}

/// How many requests may be started in a time.
public struct BatchRate: Sendable, Hashable {
  /// The mean time between two starts.
  public let interval: Duration
  /// How many may start at once after a rest; 1 or more.
  public let burst: Int

  /// So many a second, evenly spread: fractions are allowed, so 0.5 is one in two seconds.
  public static func perSecond(_ count: Double, burst: Int = 1) -> BatchRate {
    BatchRate(interval: count > 0 && count.isFinite ? .seconds(1 / count) : .zero, burst: burst)
  }

  /// One in each such time.
  public static func every(_ interval: Duration, burst: Int = 1) -> BatchRate {
    BatchRate(interval: interval, burst: burst)
  }

  var isValid: Bool { interval > .zero && burst >= 1 }
}
