import Glibc

/// `HOST:PORT:ADDR`, an IPv6 address with or without brackets.
enum ResolutionValue {
  static func parse(_ text: String) throws(UsageError) -> Settings.Resolution {
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, parts[0] != "*" else {
      throw UsageError("\(UsageError.quote(text)) is not HOST:PORT:ADDR")
    }
    guard let port = UInt16(parts[1]), port > 0 else {
      throw UsageError("\(UsageError.quote(String(parts[1]))) is not a port")
    }
    var address = parts[2]
    if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
    guard isAddress(String(address)) else {
      throw UsageError("\(UsageError.quote(String(parts[2]))) is not an IP address")
    }
    return Settings.Resolution(host: String(parts[0]), port: port, address: String(address))
  }

  private static func isAddress(_ text: String) -> Bool {
    var storage = in6_addr()
    return inet_pton(AF_INET, text, &storage) == 1 || inet_pton(AF_INET6, text, &storage) == 1
  }
}
