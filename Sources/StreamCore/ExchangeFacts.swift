/// What the transport knows about one exchange: time spent, connection, counters.
public struct ExchangeFacts: Sendable, Hashable {
  /// Where the time went. All are measured from the call, except `queued`, and nil where a step was not made.
  public struct Timings: Sendable, Hashable {
    /// Waiting for admission.
    public var queued: Duration = .zero
    /// Until the name was resolved; nil on a kept connection.
    public var dns: Duration?
    /// Until the connection stood; nil on a kept connection.
    public var connect: Duration?
    /// Until TLS stood; nil without TLS or on a kept connection.
    public var tls: Duration?
    /// Until the first byte of the answer.
    public var firstByte: Duration?
    /// Until now, or the end.
    public var total: Duration = .zero

    /// All zero.
    public init() {}
  }

  /// The connection that was used.
  public struct Connection: Sendable, Hashable {
    /// Whether it was there already.
    public var reused = false
    /// Address and port of the peer ("127.0.0.1:80", "[::1]:80"), empty when never connected.
    public var remote: String { ends?.remote ?? "" }
    /// Our own address and port.
    public var local: String { ends?.local ?? "" }
    /// The server's certificate chain, its own first; empty without TLS and unless
    /// `TLSOptions.keepsCertificates`. It is there on a kept connection too, when that was opened with the setting.
    public var certificates: [PeerCertificate] {
      get { ends?.certificates ?? [] }
      set { ends = ConnectionEnds(remote: remote, local: local, certificates: newValue) }
    }

    private var ends: ConnectionEnds?

    /// An unknown connection.
    public init() {}

    package init(reused: Bool, ends: ConnectionEnds?) {
      self.reused = reused
      self.ends = ends
    }

    /// The same state and the same addresses.
    public static func == (one: Connection, other: Connection) -> Bool {
      one.reused == other.reused && one.remote == other.remote && one.local == other.local
    }

    /// Feeds what `==` compares.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(reused)
      hasher.combine(remote)
      hasher.combine(local)
    }
  }

  /// Where the time went.
  public var timings = Timings()
  /// The connection that was used.
  public var connection = Connection()
  /// Body bytes received, content coding still on.
  public var received: Int64 = 0
  /// Body bytes sent.
  public var sent: Int64 = 0

  /// Nothing known yet.
  public init() {}
}
