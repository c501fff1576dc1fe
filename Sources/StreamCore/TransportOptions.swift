/// How a transport carries one request: limits of time and size, protocol, TLS, addresses.
public struct TransportOptions: Sendable, Hashable {
  /// Limits of time; each has an error kind of its own.
  public var timeouts = TimeLimits() {
    didSet { limits = TimeLimits.Nanoseconds(timeouts) }
  }
  /// The same as numbers: they are asked for several times in each exchange.
  package private(set) var limits = TimeLimits.Nanoseconds(TimeLimits())
  /// How much of the body may wait for the reader.
  public var watermark = Watermark.standard
  /// Which protocol versions may be used.
  public var version = VersionPolicy.automatic
  /// How the server is verified.
  public var tls = TLSOptions()
  /// How the host is found and reached.
  public var addressing = Addressing()
  /// The proxy to go through; nil: none.
  public var proxy: ProxyServer?
  /// The weight of the exchange's stream among those of its HTTP/2 connection, 1 to 256 (RFC 7540 §5.3.2, where
  /// the server still heeds it); nil: 16.
  public var streamWeight: Int?
  /// The largest head, all 1xx and trailers included: bytes (at most 256 KiB) and lines.
  public var headLimit = HeadLimit()
  /// Larger goes first among the waiting requests of a host.
  public var priority = 0
  /// Whether the exchange is meant to stay open (event stream, long poll): then it counts against its own
  /// limit instead of the limits for calls.
  public var isLongLived = false
  /// Whether `uploadProgress` is wanted before the head.
  public var reportsUpload = false
  /// Whether a request that isn't idempotent may be sent again on a connection that died unanswered.
  public var mayReplayUnsafe = false
  /// How many bytes a second are sent at most; nil: as fast as it goes. (How fast an answer comes is up to whoever
  /// reads it.)
  public var bytesPerSecond: Int64?
  /// How long the server may keep a request with `Expect: 100-continue` waiting before the body is sent
  /// unasked (RFC 9110 §10.1.1).
  public var expectLimit = Duration.seconds(1)
  /// Where cookies are kept.
  package var cookies: CookieLink?

  /// The defaults.
  public init() {}
}

/// Limits of time. Nil means none; a negative one throws `HTTPError.Kind.invalidConfiguration` before any byte is
/// sent. Each limit has an error kind of its own, and the error's message names the limit.
public struct TimeLimits: Sendable, Hashable {
  /// Waiting for a place among the running exchanges; 60 s. Else `HTTPError.Kind.admissionTimeout`.
  public var admission: Duration? = .seconds(60)
  /// Name look-up, connecting and TLS together; 10 s. Else `HTTPError.Kind.connectTimeout`.
  public var connect: Duration? = .seconds(10)
  /// From the last byte of the request to the end of the final head (1xx heads don't count); 60 s. Else
  /// `HTTPError.Kind.firstByteTimeout`.
  public var firstByte: Duration? = .seconds(60)
  /// Without a byte from or to the peer while one was expected; 60 s. The reader's own pauses don't count, nor
  /// those of the sequence that makes the request's body. Else `HTTPError.Kind.idleTimeout`.
  public var idle: Duration? = .seconds(60)
  /// The whole call, from its start to the last byte of the body, redirects included; none. Else
  /// `HTTPError.Kind.totalTimeout`.
  public var total: Duration?

  /// The defaults.
  public init() {}
}

extension TimeLimits {
  /// The limits in nanoseconds.
  package struct Nanoseconds: Sendable, Hashable {
    package let admission, connect, firstByte, idle, total: UInt64?

    package init(_ limits: TimeLimits) {
      admission = limits.admission.map(Self.of)
      connect = limits.connect.map(Self.of)
      firstByte = limits.firstByte.map(Self.of)
      idle = limits.idle.map(Self.of)
      total = limits.total.map(Self.of)
    }

    /// A duration, never below zero; more than a century is a century.
    package static func of(_ duration: Duration) -> UInt64 {
      let (seconds, attoseconds) = duration.components
      guard seconds >= 0, attoseconds >= 0 else { return 0 }
      if seconds > 4_000_000_000 { return UInt64.max / 4 }
      return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
  }
}

/// Which protocol versions may be used.
public enum VersionPolicy: String, Sendable, Hashable {
  /// HTTP/2 where TLS's ALPN offers it, else HTTP/1.1.
  case automatic
  /// HTTP/1.1 alone.
  case http1_1
  /// HTTP/2 over TLS alone is asked for; a server that doesn't have it answers in HTTP/1.1.
  case http2
}

/// The largest head. A larger one fails the exchange with `HTTPError.Kind.headTooLarge`.
public struct HeadLimit: Sendable, Hashable {
  /// All header blocks together; 256 KiB, which is also the most (libcurl gives up at 300 KiB).
  public var bytes = 256 << 10
  /// Header lines together; 1,000.
  public var lines = 1000
  /// One line; 100 KB.
  public var lineBytes = 100_000

  /// The defaults.
  public init() {}
}
