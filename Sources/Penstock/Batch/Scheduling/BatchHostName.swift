/// The host that a URL's limits are counted under: scheme and authority without user info, in lower case, as
/// far as it can be told without parsing. What isn't a URL has a host of its own.
enum BatchHostName {
  static func of(_ url: String) -> String {
    var url = url
    return url.withUTF8 { bytes in
      var position = 0
      while position < bytes.count, bytes[position] != UInt8(ascii: ":") { position += 1 }
      var start = position + 1
      while start < bytes.count, isSlash(bytes[start]) { start += 1 }
      guard position < bytes.count, start > position + 1 else { return "" }
      let scheme = bytes[..<position]
      var end = start
      var nameStart = start
      while end < bytes.count, !isEnd(bytes[end]) {
        if bytes[end] == UInt8(ascii: "@") { nameStart = end + 1 }
        end += 1
      }
      return String(unsafeUninitializedCapacity: scheme.count + 1 + end - nameStart) { buffer in
        var count = 0
        func put(_ byte: UInt8) {
          buffer[count] = byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
          count += 1
        }
        for byte in scheme { put(byte) }
        put(UInt8(ascii: ":"))
        for byte in bytes[nameStart..<end] { put(byte) }
        return count
      }
    }
  }

  private static func isSlash(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\")
  }

  private static func isEnd(_ byte: UInt8) -> Bool {
    isSlash(byte) || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }
}
