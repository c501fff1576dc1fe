/// How the host is found and reached. A request's own replace the client's as a whole.
public struct Addressing: Sendable {
  struct Values: Sendable, Hashable {
    var family = Family.any
    var interface: String?
    var localPorts: ClosedRange<UInt16>?
    var unixSocket: String?
    var overrides: [String] = [] {
      didSet {
        table = [:]
        for text in overrides {
          guard let entry = AddressOverride(text) else { continue }
          table[entry.key] = table[entry.key] ?? entry
        }
      }
    }
    /// The overrides by host and port.
    private(set) var table: [String: AddressOverride] = [:]
    var cacheTime = Duration.seconds(60)
    var happyEyeballsDelay: Duration?
    var dnsOverHTTPS: String?
  }

  /// Which address family is used.
  public enum Family: String, Sendable, Hashable {
    /// Both.
    case any
    /// IPv4 alone.
    case v4
    /// IPv6 alone.
    case v6
  }

  private static let standard = CopyOnWrite(Values())
  private var shared = Addressing.standard

  /// The host's own addresses.
  public init() {}

  /// Which address family is used.
  public var family: Family {
    get { shared.value.family }
    set { shared.value.family = newValue }
  }
  /// A local interface or address to connect from: "eth0", "192.0.2.1"; "if!NAME" and "host!NAME" say which of the
  /// two a name is. One that isn't there throws `HTTPError.Kind.connectFailed`.
  public var interface: String? {
    get { shared.value.interface }
    set { shared.value.interface = newValue }
  }
  /// The local ports to connect from, tried in order; nil: whatever the system picks.
  public var localPorts: ClosedRange<UInt16>? {
    get { shared.value.localPorts }
    set { shared.value.localPorts = newValue }
  }
  /// The path of a Unix socket that is connected to in place of the host; 1 to 107 bytes, else
  /// `HTTPError.Kind.invalidConfiguration`. The Host field and TLS's name stay those of the URL.
  public var unixSocket: String? {
    get { shared.value.unixSocket }
    set { shared.value.unixSocket = newValue }
  }
  /// Addresses to connect to in place of "HOST:PORT", each "HOST:PORT:ADDRESS"; the first one that fits counts.
  /// They hold for the exchange alone: no other request gets such an address or such a connection.
  public var overrides: [String] {
    get { shared.value.overrides }
    set { shared.value.overrides = newValue }
  }
  /// How long an address that was looked up is used again; 60 s, zero: not at all.
  public var cacheTime: Duration {
    get { shared.value.cacheTime }
    set { shared.value.cacheTime = newValue }
  }
  /// How long the family of the first address, which the resolver chooses, is ahead of the other when a name has both
  /// IPv6 and IPv4 (RFC 8305 §5); nil: libcurl's 200 ms. When the first fails, the other is tried at once.
  public var happyEyeballsDelay: Duration? {
    get { shared.value.happyEyeballsDelay }
    set { shared.value.happyEyeballsDelay = newValue }
  }
  /// The https URL of a server that names are looked up at (RFC 8484), in place of the system's resolver.
  public var dnsOverHTTPS: String? {
    get { shared.value.dnsOverHTTPS }
    set { shared.value.dnsOverHTTPS = newValue }
  }

  /// The first override that can't be read.
  package var unreadableOverride: String? {
    let values = shared.value
    return values.overrides.count == values.table.count
      ? nil : values.overrides.first { AddressOverride($0) == nil }
  }

  /// Where to connect to in place of a host and port.
  package func override(host: String, port: UInt16) -> AddressOverride? {
    let table = shared.value.table
    return table.isEmpty ? nil : table["\(host):\(port)"]
  }

  /// Without the overrides, which are set for each request.
  package var withoutOverrides: Addressing {
    if overrides.isEmpty { return self }
    var copy = self
    copy.overrides = []
    return copy
  }
}

extension Addressing: Hashable {
  /// Whether all settings are equal.
  public static func == (left: Addressing, right: Addressing) -> Bool {
    CopyOnWrite.areSame(left.shared, right.shared) || left.shared.value == right.shared.value
  }

  /// Hashes all settings.
  public func hash(into hasher: inout Hasher) { hasher.combine(shared.value) }
}
