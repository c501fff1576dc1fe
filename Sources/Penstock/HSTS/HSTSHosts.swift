import CurlTransport

/// The known hosts of RFC 6797 §8, on whatever clock the caller reads. Pure.
struct HSTSHosts: Sendable, Hashable {
  /// More hosts than this are never kept: the ones that end first make room.
  static let most = 10_000

  struct Entry: Sendable, Hashable {
    /// Seconds since 1970.
    var expires: Int64
    var includesSubdomains: Bool
  }

  /// By host, in small letters and without a final dot.
  private(set) var entries: [String: Entry] = [:]

  /// Whether http to the host must become https (§8.2, §8.3).
  func covers(_ host: String, now: Int64) -> Bool {
    var name = Self.canonical(host)[...]
    if let entry = entries[String(name)], entry.expires > now { return true }
    if CurlURL.isAddress(host) { return false }
    while let dot = name.firstIndex(of: ".") {
      name = name[name.index(after: dot)...]
      if let entry = entries[String(name)], entry.includesSubdomains, entry.expires > now { return true }
    }
    return false
  }

  enum Change: Sendable, Equatable {
    case none
    /// Worth writing down.
    case changed
    /// Only the end has moved, by less than a day.
    case prolonged
  }

  /// What a host says of itself over a connection without faults (§8.1).
  mutating func learn(_ field: StrictTransportSecurity, host: String, now: Int64) -> Change {
    guard !CurlURL.isAddress(host) else { return .none }
    let name = Self.canonical(host)
    guard field.maximumAge > 0 else { return entries.removeValue(forKey: name) == nil ? .none : .changed }
    let (sum, overflow) = now.addingReportingOverflow(field.maximumAge)
    let entry = Entry(expires: overflow ? .max : sum, includesSubdomains: field.includesSubdomains)
    return set(entry, for: name, now: now)
  }

  @discardableResult
  mutating func set(_ entry: Entry, for host: String, now: Int64) -> Change {
    let name = Self.canonical(host)
    guard !name.isEmpty else { return .none }
    let old = entries.updateValue(entry, forKey: name)
    if entries.count > Self.most { shrink(now: now) }
    guard let old, old.includesSubdomains == entry.includesSubdomains, old.expires > now else {
      return .changed
    }
    if old.expires == entry.expires { return .none }
    let (distance, overflow) = entry.expires.subtractingReportingOverflow(old.expires)
    return !overflow && abs(distance) < 86_400 ? .prolonged : .changed
  }

  @discardableResult
  mutating func remove(_ host: String) -> Bool { entries.removeValue(forKey: Self.canonical(host)) != nil }

  mutating func removeAll() { entries = [:] }

  private mutating func shrink(now: Int64) {
    entries = entries.filter { $0.value.expires > now }
    let surplus = entries.count - Self.most
    guard surplus > 0 else { return }
    for (name, _) in entries.sorted(by: { $0.value.expires < $1.value.expires }).prefix(
      surplus + Self.most / 16)
    {
      entries[name] = nil
    }
  }

  static func canonical(_ host: String) -> String {
    var name = host.lowercased()
    while name.hasSuffix(".") { name.removeLast() }
    return name
  }
}
