import CurlTransport
import Glibc

/// A host, or a range of addresses, that is reached without the proxy. See `ProxyPolicy`.
struct NoProxyRule: Sendable, Hashable {
  private enum Pattern: Sendable, Hashable {
    case all
    /// A host and those below it, in small letters.
    case name(String)
    /// An address and how many of its bits count.
    case range([UInt8], bits: Int)
  }

  private let pattern: Pattern
  private let port: UInt16?

  /// A list as `no_proxy` has it: between commas or blanks.
  static func list(_ text: String) -> [NoProxyRule] {
    text.split { $0 == "," || $0 == " " || $0 == "\t" }.compactMap { NoProxyRule(String($0)) }
  }

  /// Nil for a rule that fits nothing.
  init?(_ text: String) {
    var host = text.lowercased()[...]
    var port: UInt16?
    // "a:1" has a port; "::1" is an address.
    if let colon = host.lastIndex(of: ":"),
      host.hasPrefix("[") ? host[..<colon].hasSuffix("]") : host.firstIndex(of: ":") == colon,
      let number = DecimalDigits.value(host[host.index(after: colon)...].utf8)
    {
      guard let exact = UInt16(exactly: number) else { return nil }
      port = exact
      host = host[..<colon]
    }
    self.port = port
    if host == "*" {
      pattern = .all
      return
    }
    let parts = host.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    if let first = parts.first, let address = Self.address(first) {
      var bits = address.count * 8
      if parts.count > 1 {
        guard let number = DecimalDigits.value(parts[1].utf8), number <= Int64(bits) else { return nil }
        bits = Int(number)
      }
      pattern = .range(address, bits: bits)
      return
    }
    if host.hasPrefix("*.") { host = host.dropFirst() }
    while host.hasPrefix(".") { host = host.dropFirst() }
    if host.hasSuffix(".") { host = host.dropLast() }
    guard !host.isEmpty else { return nil }
    pattern = .name(String(host))
  }

  /// - Parameter host: as in a URL, an IPv6 address in brackets.
  func fits(host: String, port: UInt16) -> Bool {
    if let own = self.port, own != port { return false }
    var host = host.lowercased()[...]
    if host.hasSuffix(".") { host = host.dropLast() }
    switch pattern {
    case .all: return true
    case .name(let name): return host == name || host.hasSuffix("." + name)
    case .range(let start, let bits):
      guard let address = Self.address(host), address.count == start.count else { return false }
      return Self.agree(address, start, bits: bits)
    }
  }

  private static func agree(_ one: [UInt8], _ other: [UInt8], bits: Int) -> Bool {
    let whole = bits / 8
    guard one[..<whole] == other[..<whole] else { return false }
    let left = bits % 8
    return left == 0 || (one[whole] ^ other[whole]) >> UInt8(8 - left) == 0
  }

  /// The bytes of an IPv4 or IPv6 address, brackets or not; nil for a name.
  private static func address(_ text: Substring) -> [UInt8]? {
    var text = String(text)
    if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
    return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
  }
}
