import Glibc
import StreamCore
import Synchronization

/// Where a URL's request goes: scheme, host and port. URLs of one host share it, so that a copy of a URL is
/// cheap, and what is derived from it is made once.
package final class Authority: Sendable, Hashable {
  package let scheme: String
  package let host: String
  package let port: UInt16
  /// Scheme, host and port in one: what connections and secrets are bound to.
  package let origin: String
  /// Whether the host is an IP address, which needs no look-up.
  package let isAddress: Bool
  package let isSecure: Bool
  /// How a plain URL of it begins.
  private let prefix: [UInt8]

  /// - Parameter prefix: how a plain URL begins, without the slash of the path; empty: there is none.
  init(scheme: String, host: String, port: UInt16, origin: String, prefix: [UInt8] = []) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.origin = origin
    self.prefix = prefix
    isSecure = scheme == "https"
    isAddress = CurlURL.isAddress(host)
  }

  /// The authority of the last plain URL: nearly always that of the next.
  private static let last = Mutex<Authority?>(nil)

  /// The last one, if a plain URL with these bytes is of it, and where its path begins.
  static func known(_ bytes: UnsafeBufferPointer<UInt8>) -> (Authority, pathStart: Int)? {
    guard let last = last.withLock({ $0 }) else { return nil }
    let count = last.prefix.count
    guard bytes.count > count, unsafe bytes[count] == UInt8(ascii: "/") else { return nil }
    guard let start = bytes.baseAddress, unsafe memcmp(start, last.prefix, count) == 0 else { return nil }
    return (last, count)
  }

  func remember() { Self.last.withLock { $0 = self } }

  package static func == (one: Authority, other: Authority) -> Bool {
    one === other || one.origin == other.origin
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(origin) }
}
