/// How TLS is spoken and the peer's certificate is checked.
///
/// Connections are kept apart by these: an exchange never rides on one that was opened with less verification,
/// other roots or another client certificate. Files are read when the first request with them is sent; one that
/// can't be read throws `HTTPError.Kind.invalidConfiguration` and nothing is sent.
public struct TLSOptions: Sendable {
  struct Values: Sendable, Hashable {
    var verifiesTrust = true
    var verifiesName = true
    var caFile: String?
    var extraRoots: [PEMSource] = []
    var identity: ClientIdentity?
    var minimumVersion: TLSVersion?
    var maximumVersion: TLSVersion?
    var ciphers: [String] = []
    var tls13Ciphers: [String] = []
    var offersALPN = true
    var pinnedKeys: [String] = []
    var revocationList: String?
    var requiresStapledStatus = false
    var keepsCertificates = false
  }

  private static let standard = CopyOnWrite(Values())
  private var shared = TLSOptions.standard

  /// Both checks on, the system's roots, no client certificate.
  public init() {}

  /// Whether the chain must lead to a trusted root; true. The name is checked all the same.
  public var verifiesTrust: Bool {
    get { shared.value.verifiesTrust }
    set { shared.value.verifiesTrust = newValue }
  }
  /// Whether the certificate must be for the host's name (RFC 9110 §4.3.4); true. Trust is checked all the same.
  public var verifiesName: Bool {
    get { shared.value.verifiesName }
    set { shared.value.verifiesName = newValue }
  }
  /// A PEM file of trusted roots in place of the system's.
  ///
  /// What was read of it may be used again for a day: write a changed set of roots to a file of another name.
  public var caFile: String? {
    get { shared.value.caFile }
    set { shared.value.caFile = newValue }
  }
  /// Trusted roots beside those of the system, or of `caFile`. All of them together are handed to libcurl as one
  /// file, so that its cache of parsed roots works: a new connection costs some 2 ms instead of 20.
  public var extraRoots: [PEMSource] {
    get { shared.value.extraRoots }
    set { shared.value.extraRoots = newValue }
  }
  /// The certificate and key that are shown to a server that asks for one. One that can't be used throws
  /// `HTTPError.Kind.clientCertificate`.
  public var identity: ClientIdentity? {
    get { shared.value.identity }
    set { shared.value.identity = newValue }
  }
  /// The oldest version of TLS that is spoken; nil: libcurl's default, TLS 1.2 on today's systems.
  public var minimumVersion: TLSVersion? {
    get { shared.value.minimumVersion }
    set { shared.value.minimumVersion = newValue }
  }
  /// The newest version of TLS that is spoken; nil: the newest there is. Older than `minimumVersion` throws
  /// `HTTPError.Kind.invalidConfiguration`.
  public var maximumVersion: TLSVersion? {
    get { shared.value.maximumVersion }
    set { shared.value.maximumVersion = newValue }
  }
  /// Cipher suites of TLS 1.2 by OpenSSL's names, in order; empty: OpenSSL's default.
  public var ciphers: [String] {
    get { shared.value.ciphers }
    set { shared.value.ciphers = newValue }
  }
  /// Cipher suites of TLS 1.3 by OpenSSL's names, in order; empty: OpenSSL's default.
  public var tls13Ciphers: [String] {
    get { shared.value.tls13Ciphers }
    set { shared.value.tls13Ciphers = newValue }
  }
  /// Whether protocols are offered by ALPN (RFC 7301); true. Without it HTTP/1.1 is spoken.
  public var offersALPN: Bool {
    get { shared.value.offersALPN }
    set { shared.value.offersALPN = newValue }
  }
  /// The public keys that the server may have, each the SHA-256 of its DER form as "sha256//BASE64"; empty: any.
  /// Checked beside trust and name, also where those are switched off. Another key throws
  /// `HTTPError.Kind.pinnedKeyMismatch`.
  ///
  /// Pin a spare key as well: a server whose pinned key is lost can't be reached any more.
  public var pinnedKeys: [String] {
    get { shared.value.pinnedKeys }
    set { shared.value.pinnedKeys = newValue }
  }
  /// A PEM file of certificate revocation lists (RFC 5280 §5), one for each authority of the chain.
  public var revocationList: String? {
    get { shared.value.revocationList }
    set { shared.value.revocationList = newValue }
  }
  /// Whether the server must staple a good OCSP answer to its certificate (RFC 6066 §8); false, as few do.
  public var requiresStapledStatus: Bool {
    get { shared.value.requiresStapledStatus }
    set { shared.value.requiresStapledStatus = newValue }
  }
  /// Whether the server's certificate chain is kept, to be read at `ExchangeFacts.Connection.certificates`; false,
  /// as it costs some time at each new connection.
  public var keepsCertificates: Bool {
    get { shared.value.keepsCertificates }
    set { shared.value.keepsCertificates = newValue }
  }

  /// Whether nothing was set.
  package var isStandard: Bool { CopyOnWrite.areSame(shared, Self.standard) }
}

extension TLSOptions: Hashable {
  /// Whether all settings are equal.
  public static func == (left: TLSOptions, right: TLSOptions) -> Bool {
    CopyOnWrite.areSame(left.shared, right.shared) || left.shared.value == right.shared.value
  }

  /// Hashes all settings.
  public func hash(into hasher: inout Hasher) { hasher.combine(shared.value) }
}

/// A version of TLS.
public enum TLSVersion: String, Sendable, Hashable, Comparable, CaseIterable {
  /// TLS 1.0 (RFC 2246), long deprecated (RFC 8996). Most systems' OpenSSL refuses it.
  case v1_0 = "1.0"
  /// TLS 1.1 (RFC 4346), deprecated too.
  case v1_1 = "1.1"
  /// TLS 1.2 (RFC 5246).
  case v1_2 = "1.2"
  /// TLS 1.3 (RFC 8446).
  case v1_3 = "1.3"

  /// Older before newer.
  public static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}

/// Where certificates in PEM form (RFC 7468) come from.
public enum PEMSource: Sendable, Hashable {
  /// A file with one or more certificates.
  case file(String)
  /// All certificates in the files of a directory; files without any are passed over.
  case directory(String)
  /// The bytes of such a file.
  case bytes([UInt8])
}

/// The certificate that a client shows of itself, with its key.
public struct ClientIdentity: Sendable, Hashable {
  /// Where its parts are.
  public enum Content: Sendable, Hashable {
    /// PEM files: the certificate with its chain, and the key, which may be the same file.
    case files(certificate: String, key: String)
    /// The bytes of such files.
    case pem(certificate: [UInt8], key: [UInt8])
    /// A PKCS#12 file (RFC 7292), which holds both.
    case pkcs12File(String)
    /// The bytes of a PKCS#12 file.
    case pkcs12([UInt8])
  }

  /// Where its parts are.
  public var content: Content
  /// The password of the key, or of the PKCS#12 file.
  public var password: String?

  /// An identity from its parts.
  public init(_ content: Content, password: String? = nil) {
    self.content = content
    self.password = password
  }
}

extension ClientIdentity: CustomStringConvertible, CustomReflectable {
  /// What kind it is; keys and passwords are left out.
  public var description: String {
    switch content {
    case .files(let certificate, _): "client certificate \(certificate)"
    case .pem: "client certificate in memory"
    case .pkcs12File(let path): "PKCS#12 file \(path)"
    case .pkcs12: "PKCS#12 in memory"
    }
  }

  /// Nothing to look into: keys and passwords stay out of dumps.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
