import CurlTransport
import Glibc
import Synchronization

/// The hosts that are asked by https alone (HTTP Strict Transport Security, RFC 6797), learned from their answers.
///
/// ```swift
/// configuration.hsts = try HSTSStore(file: "/var/lib/service/hsts.txt")
/// ```
///
/// With a store, a request for `http://host` of a known host is sent to `https://host` and nothing goes over the wire in
/// clear; a redirect to such a URL is followed as https instead of being refused. Fields are believed only over https
/// with both checks of `TLSOptions` on. One store may serve several clients; it holds 10,000 hosts at most.
public final class HSTSStore: Sendable {
  /// A host of the store.
  public struct Host: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// Whether the hosts below it are meant too.
    public let includesSubdomains: Bool
    /// When its time ends, in seconds since 1970.
    public let expires: Int64
  }

  private let hosts: Mutex<HSTSHosts>
  private let path: String?
  private let writing = Mutex(())
  private let now: @Sendable () -> Int64

  /// An empty store in memory.
  public convenience init() { self.init(HSTSHosts(), path: nil, now: Self.wallClock) }

  /// A store in a file in curl's form, which is read now, if it is there, and written anew, whole, when something was
  /// learned. Two processes may share it; the last to write wins.
  /// - Throws: `HTTPError.Kind.readFailed` when the file is there and can't be read.
  public convenience init(file path: String) throws(HTTPError) {
    try self.init(file: path, now: Self.wallClock)
  }

  convenience init(file path: String, now: @escaping @Sendable () -> Int64) throws(HTTPError) {
    let text = try Self.read(path)
    self.init(HSTSFile.hosts(text, now: now()), path: path, now: now)
  }

  init(_ hosts: HSTSHosts, path: String?, now: @escaping @Sendable () -> Int64) {
    self.hosts = Mutex(hosts)
    self.path = path
    self.now = now
  }

  // MARK: reading and editing

  /// The known hosts whose time isn't over, by name.
  public var knownHosts: [Host] {
    let now = now()
    return hosts.withLock(\.entries).filter { $0.value.expires > now }.sorted { $0.key < $1.key }.map {
      name, entry in
      Host(name: name, includesSubdomains: entry.includesSubdomains, expires: entry.expires)
    }
  }

  /// Whether plain http to a host becomes https.
  public func covers(_ host: String) -> Bool {
    let now = now()
    return hosts.withLock { $0.covers(host, now: now) }
  }

  /// Adds a host by hand, as browsers' preload lists do, until a time in seconds since 1970.
  public func add(_ host: String, includesSubdomains: Bool, expires: Int64 = .max) {
    let now = now()
    let entry = HSTSHosts.Entry(expires: expires, includesSubdomains: includesSubdomains)
    if hosts.withLock({ $0.set(entry, for: host, now: now) }) != .none { save() }
  }

  /// Forgets a host.
  public func remove(_ host: String) {
    if hosts.withLock({ $0.remove(host) }) { save() }
  }

  /// Forgets all hosts.
  public func removeAll() {
    hosts.withLock { $0.removeAll() }
    save()
  }

  // MARK: the pipeline's side

  /// The URL to ask in place of one; the same where nothing is known of its host.
  func upgraded(_ url: String) -> String {
    guard url.utf8.prefix(5).map(FieldSyntax.lower).elementsEqual("http:".utf8),
      let parsed = try? CurlURL(url),
      covers(parsed.host)
    else { return url }
    return Self.secured(url)
  }

  /// The same for a URL that is taken apart already.
  func upgraded(_ url: CurlURL) -> CurlURL {
    guard !url.isSecure, covers(url.host) else { return url }
    let text = Self.secured(url.text) + (url.fragment.map { "#" + $0 } ?? "")
    return (try? CurlURL(text)) ?? url
  }

  /// Scheme https; port 80, where it is named, becomes 443; any other stays (§8.3).
  static func secured(_ url: String) -> String {
    let bytes = Array(url.utf8)
    let start = bytes.firstIndex(of: UInt8(ascii: "/")).map { $0 + 2 } ?? bytes.count
    guard start <= bytes.count else { return url }
    let end =
      bytes[start...].firstIndex {
        $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
      }
      ?? bytes.count
    var authority = Array(bytes[start..<end])
    if authority.suffix(3).elementsEqual(":80".utf8) {
      authority.removeLast(2)
      authority += Array("443".utf8)
    }
    return "https://" + String(decoding: authority + bytes[end...], as: UTF8.self)
  }

  /// Takes in what an answer says; the URL is the one that was asked.
  func learn(_ head: ResponseHead, from url: String, tls: TLSOptions) {
    guard tls.verifiesTrust, tls.verifiesName, let value = head.headers["Strict-Transport-Security"],
      let field = StrictTransportSecurity(value), let url = try? CurlURL(url), url.isSecure
    else { return }
    let now = now()
    if hosts.withLock({ $0.learn(field, host: url.host, now: now) }) == .changed { save() }
  }

  // MARK: the file

  private static let wallClock: @Sendable () -> Int64 = { Int64(time(nil)) }

  private static func read(_ path: String) throws(HTTPError) -> String {
    func failed(_ number: Int32) -> HTTPError {
      HTTPError(
        .readFailed, phase: .file,
        message: "the HSTS file \"\(path)\" can't be read: \(FileFailure.text(number))")
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return "" }
      throw failed(errno)
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    let number = SmallFile.append(to: &bytes, from: descriptor, limit: 16 << 20)
    // Of a larger one the beginning is enough.
    guard number == 0 || number == EFBIG else { throw failed(number) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Beside the file, then renamed: a reader never finds half of it. A failure leaves the old one, and the store in
  /// memory goes on.
  private func save() {
    guard let path else { return }
    writing.withLock { _ in
      let text = hosts.withLock { HSTSFile.text($0) }
      _ = AtomicFile.replace(path, with: Array(text.utf8), access: .ownerOnly, durability: .content)
    }
  }
}
