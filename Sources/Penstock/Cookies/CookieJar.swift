import Glibc
import Synchronization

/// Keeps cookies between requests (RFC 6265): in memory, or in a Netscape cookie file as curl does.
///
/// Give one to `ClientConfiguration.cookies` or `Request.cookies`. Cookies are read and matched by libcurl, which
/// refuses those for public suffixes such as `co.uk`; they are stored at every hop of a redirect, before the next
/// request is built. One jar may serve several clients. A transport that isn't libcurl's knows no cookies.
///
/// At most 300 cookies a domain and 10,000 in all are kept; beyond that the oldest go.
public final class CookieJar: Sendable {
  struct Entry: Sendable {
    var cookie: Cookie
    /// Counts up: the oldest has the smallest.
    var order: UInt64
  }

  private struct State: Sendable {
    var domains: [String: [Entry]] = [:]
    var count = 0
    var order: UInt64 = 0
    var isSaveScheduled = false
    var hasUnsavedChanges = false
  }

  static let mostPerDomain = 300
  static let most = 10_000

  private let state = Mutex(State())
  private let now: @Sendable () -> Int64
  private let file: CookieFile?

  /// A jar in memory.
  public convenience init() { self.init(file: nil) }

  /// A jar that is read from a file now and written to it soon after each change, under a name of its own first,
  /// readable by this user alone. A file that doesn't exist is an empty jar.
  ///
  /// - Throws: `HTTPError.Kind.readFailed` when there is a file that can't be read.
  public convenience init(file path: String) throws(HTTPError) {
    let file = CookieFile(path)
    self.init(file: file)
    let lines = try file.read(mustExist: false)
    state.withLock { Self.add(lines, to: &$0, now: now()) }
  }

  init(file: CookieFile?, now: @escaping @Sendable () -> Int64 = { Int64(time(nil)) }) {
    self.file = file
    self.now = now
  }

  // MARK: reading and editing

  /// All cookies that haven't expired, by domain, then in the order in which they came.
  public var all: [Cookie] {
    let now = now()
    return state.withLock { state in
      state.domains.sorted { $0.key < $1.key }.flatMap { $0.value.map(\.cookie) }.filter {
        !$0.isExpired(at: now)
      }
    }
  }

  /// The cookies that a request to this URL would get. The rules are RFC 6265's; what is sent is libcurl's choice
  /// by the same rules.
  ///
  /// - Throws: `HTTPError.Kind.invalidURL` for a URL that no request can have.
  public func cookies(for url: String) throws(HTTPError) -> [Cookie] {
    let place = try CookiePlace(url)
    return all.filter { $0.matches(host: place.host, path: place.path, isSecure: place.isSecure) }
  }

  /// Adds a cookie, in place of one of the same name, domain and path; one that has expired takes it away.
  ///
  /// - Throws: `HTTPError.Kind.invalidHeader` for a cookie that can't be sent.
  public func set(_ cookie: Cookie) throws(HTTPError) {
    try cookie.check()
    change { Self.put(cookie, into: &$0, now: now()) }
  }

  /// Takes a cookie away.
  public func remove(_ cookie: Cookie) { change { Self.remove(cookie.identity, from: &$0) } }

  /// Takes all cookies away, or those of a domain.
  public func removeAll(domain: String? = nil) {
    change { state in
      guard let domain else {
        let wasEmpty = state.count == 0
        state.domains = [:]
        state.count = 0
        return !wasEmpty
      }
      guard let entries = state.domains.removeValue(forKey: domain.lowercased()) else { return false }
      state.count -= entries.count
      return true
    }
  }

  /// Takes those away that end with the session.
  public func removeSessionCookies() {
    for cookie in all where cookie.expires == nil { remove(cookie) }
  }

  /// Reads the cookies of a Netscape file into the jar.
  ///
  /// - Throws: `HTTPError.Kind.readFailed` when it can't be read.
  public func load(_ path: String) throws(HTTPError) {
    let lines = try CookieFile(path).read(mustExist: true)
    change { state in
      Self.add(lines, to: &state, now: now())
      return !lines.isEmpty
    }
  }

  /// Writes the jar to its file now, or to another one; nothing when it has none. The file takes the place of an
  /// old one in one step.
  ///
  /// - Throws: `HTTPError.Kind.writeFailed`.
  public func save(to path: String? = nil) async throws(HTTPError) {
    guard let file = path.map({ CookieFile($0) }) ?? file else { return }
    if path == nil { state.withLock { $0.hasUnsavedChanges = false } }
    let text = netscapeText
    try await file.write(text)
  }

  /// The jar as the text of a Netscape cookie file. It holds secrets.
  public var netscapeText: String {
    CookieFile.heading + all.map { $0.netscapeLine + "\n" }.joined()
  }

  // MARK: changes

  private func change(_ edit: (inout State) -> Bool) {
    let schedules = state.withLock { state in
      guard edit(&state), file != nil else { return false }
      state.hasUnsavedChanges = true
      if state.isSaveScheduled { return false }
      state.isSaveScheduled = true
      return true
    }
    if schedules { scheduleSave() }
  }

  /// One write for all changes of a moment; it keeps the jar until it is done.
  private func scheduleSave() {
    file?.later { [self] in
      let isNeeded = state.withLock { state in
        state.isSaveScheduled = false
        defer { state.hasUnsavedChanges = false }
        return state.hasUnsavedChanges
      }
      return isNeeded ? netscapeText : nil
    }
  }

  private static func add(_ lines: [Substring], to state: inout State, now: Int64) {
    for line in lines {
      if let cookie = Cookie(netscapeLine: line) { _ = put(cookie, into: &state, now: now) }
    }
  }

  private static func put(_ cookie: Cookie, into state: inout State, now: Int64) -> Bool {
    if cookie.isExpired(at: now) { return remove(cookie.identity, from: &state) }
    var entries = state.domains[cookie.domain] ?? []
    if let index = entries.firstIndex(where: { $0.cookie.identity == cookie.identity }) {
      guard entries[index].cookie != cookie else { return false }
      // The creation time stays (RFC 6265 §5.3).
      entries[index].cookie = cookie
    } else {
      state.order += 1
      entries.append(Entry(cookie: cookie, order: state.order))
      if entries.count > mostPerDomain { entries.removeFirst() } else { state.count += 1 }
    }
    state.domains[cookie.domain] = entries
    if state.count > most { makeRoom(&state, now: now) }
    return true
  }

  private static func remove(_ identity: Cookie.Identity, from state: inout State) -> Bool {
    guard var entries = state.domains[identity.domain],
      let index = entries.firstIndex(where: { $0.cookie.identity == identity })
    else { return false }
    entries.remove(at: index)
    state.count -= 1
    state.domains[identity.domain] = entries.isEmpty ? nil : entries
    return true
  }

  /// Takes the expired and the oldest tenth away.
  private static func makeRoom(_ state: inout State, now: Int64) {
    let orders = state.domains.values.joined().map(\.order).sorted()
    let limit = orders.isEmpty ? 0 : orders[orders.count / 10]
    var count = 0
    state.domains = state.domains.compactMapValues { entries in
      let kept = entries.filter { $0.order > limit && !$0.cookie.isExpired(at: now) }
      count += kept.count
      return kept.isEmpty ? nil : kept
    }
    state.count = count
  }
}

extension CookieJar: CookieLines {
  /// The latest first: among equals libcurl sends first what it was given last, and the oldest should be the first
  /// (RFC 6265 §5.4).
  package func lines(for host: String) -> [String] {
    let now = now()
    return state.withLock { state in
      guard state.count > 0 else { return [] }
      var lines: [String] = []
      var domain = Substring(host)
      while true {
        for entry in (state.domains[String(domain)] ?? []).reversed()
        where !entry.cookie.isExpired(at: now)
          && (entry.cookie.includesSubdomains || domain.utf8.count == host.utf8.count)
        {
          lines.append(entry.cookie.netscapeLine)
        }
        guard let dot = domain.firstIndex(of: "."), !host.hasPrefix("[") else { return lines }
        domain = domain[domain.index(after: dot)...]
      }
    }
  }

  package func merge(_ lines: [String], lent: [String]) {
    var before: [Cookie.Identity: Cookie] = [:]
    for line in lent { if let cookie = Cookie(netscapeLine: line) { before[cookie.identity] = cookie } }
    let after = lines.compactMap { Cookie(netscapeLine: $0) }
    let now = now()
    change { state in
      var changes = false
      for cookie in after {
        // What came back as it was lent may have been changed by another exchange meanwhile.
        if before.removeValue(forKey: cookie.identity) == cookie { continue }
        if Self.put(cookie, into: &state, now: now) { changes = true }
      }
      for (identity, cookie) in before {
        let current = state.domains[identity.domain]?.first { $0.cookie.identity == identity }
        if current?.cookie == cookie, Self.remove(identity, from: &state) { changes = true }
      }
      return changes
    }
  }
}
