/// What a batch does otherwise than by default.
public struct BatchOptions: Sendable {
  /// Whether the first failure ends the batch: what runs is cancelled, nothing more is read, and every input
  /// that was read has its result, the rest of kind `cancelled`. Then the sequence ends.
  public var failsFast = false
  /// Whether a status outside 2xx is a failure of kind `httpStatus`; false: every status is a response. A 304
  /// to stored `validators` is none either way.
  public var requiresSuccess = false
  /// Whether inputs with the same request (method, URL, fields, and content in memory) are fetched once. Each has
  /// a result of its own, with the same value. Requests with a streamed body or with settings of their own
  /// (`Request.timeouts` and the like) are never joined.
  ///
  /// Results are remembered for later inputs up to `joinMemory`, failures too.
  public var joinsIdentical = false
  /// How much of the results is remembered for joining: the oldest are forgotten first.
  public var joinMemory = JoinMemory()
  /// Validators from earlier runs, by which unchanged resources are answered with 304 and no body; those of this
  /// run are stored there.
  public var validators: (any BatchValidators)?
  /// When failed attempts are made again; nil: by the policy of the request or the client, if they have one. While
  /// an input waits for its next attempt others have its place. Where bodies are collected, one that breaks off is
  /// fetched again as well.
  public var retry: RetryPolicy?
  /// Heeds robots.txt (RFC 9309): a URL that its host forbids fails with `HTTPError.Kind.robotsDisallowed`
  /// before it is asked for, and crawl delays are kept. Nil: nobody asks.
  public var robots: RobotsPolicy?
  /// Whether the work of the batch runs on the client's loops, spread evenly, so that no request hops between threads.
  /// Code on a loop must not block. Nil: where the batch has no closures of the caller's; the inputs are read there
  /// too, so say false for a sequence that blocks.
  public var staysOnLoop: Bool?

  /// Bounds on what joining remembers.
  public struct JoinMemory: Sendable, Hashable {
    /// How many results; 10,000.
    public var count = 10_000
    /// How many bytes of bodies; 64 MiB.
    public var bytes = ByteCount.mebibytes(64)

    /// The defaults.
    public init() {}
  }

  /// The defaults.
  public init() {}

  /// The defaults, but for this.
  public init(failsFast: Bool) { self.failsFast = failsFast }
}
