/// "HOST:PORT:ADDRESS": where to connect to in place of a host and port.
package struct AddressOverride: Sendable, Hashable {
  /// In small letters, an IPv6 address in brackets.
  package let host: String
  package let port: UInt16
  /// An address or name, without brackets.
  package let address: String

  /// Nil for what can't be read.
  package init?(_ text: String) {
    guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else { return nil }
    let afterHost: Substring
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      host = text[...end].lowercased()
      afterHost = text[text.index(after: end)...]
    } else {
      let end = text.firstIndex(of: ":") ?? text.endIndex
      host = text[..<end].lowercased()
      afterHost = text[end...]
    }
    guard !host.isEmpty, host != "[]", afterHost.hasPrefix(":") else { return nil }
    let parts = afterHost.dropFirst().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let number = DecimalDigits.value(parts[0].utf8),
      let port = UInt16(exactly: number)
    else { return nil }
    var address = parts[1]
    if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
    guard !address.isEmpty else { return nil }
    self.port = port
    self.address = String(address)
  }

  /// As libcurl's CONNECT_TO wants it.
  package var connectTo: String { "\(host):\(port):\(bracketed):\(port)" }

  private var bracketed: String { address.contains(":") ? "[\(address)]" : address }

  /// Host and port, to find it by.
  package var key: String { "\(host):\(port)" }
}
