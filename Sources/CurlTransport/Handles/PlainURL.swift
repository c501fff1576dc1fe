/// A URL in which there is nothing to normalise, so that it needs no parser: small letters in scheme and host,
/// a path, no user info, no escapes, no dot segments, no fragment. Nil for every other URL, good or bad.
struct PlainURL {
  let authority: Authority
  let pathStart: Int

  init?(_ text: String) {
    var text = text
    let found = text.withUTF8 { bytes -> (Authority, Int)? in
      if let (known, pathStart) = unsafe Authority.known(bytes) {
        return unsafe Self.hasPlainPath(bytes, from: pathStart) ? (known, pathStart) : nil
      }
      guard let parts = unsafe Self.parts(bytes) else { return nil }
      return unsafe (Self.authority(parts, bytes), parts.pathStart)
    }
    guard let (authority, pathStart) = found else { return nil }
    self.authority = authority
    self.pathStart = pathStart
  }

  private static func authority(_ parts: Parts, _ bytes: UnsafeBufferPointer<UInt8>) -> Authority {
    func string(_ range: Range<Int>) -> String {
      unsafe String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }
    let prefix = 0..<parts.pathStart
    let authority = unsafe Authority(
      scheme: parts.isSecure ? "https" : "http", host: string(parts.host), port: parts.port,
      origin: parts.hasPort ? string(prefix) : "\(string(prefix)):\(parts.port)", prefix: Array(bytes[prefix])
    )
    authority.remember()
    return authority
  }

  private struct Parts {
    var isSecure: Bool
    var host: Range<Int>
    var port: UInt16
    var hasPort: Bool
    var pathStart: Int
  }

  private static func parts(_ bytes: UnsafeBufferPointer<UInt8>) -> Parts? {
    let isSecure: Bool
    var index: Int
    if unsafe starts(bytes, with: "http://") {
      isSecure = false
      index = 7
    } else if unsafe starts(bytes, with: "https://") {
      isSecure = true
      index = 8
    } else {
      return nil
    }
    let hostStart = index
    while index < bytes.count, isHostByte(unsafe bytes[index]) { index += 1 }
    let host = hostStart..<index
    guard unsafe isPlainHost(UnsafeBufferPointer(rebasing: bytes[host])), index < bytes.count else {
      return nil
    }
    var port: UInt16 = isSecure ? 443 : 80
    let hasPort = unsafe bytes[index] == UInt8(ascii: ":")
    if hasPort {
      index += 1
      let start = index
      var number = 0
      while index < bytes.count, index - start < 6, let digit = unsafe digit(bytes[index]) {
        if index == start, digit == 0 { return nil }
        number = number * 10 + digit
        index += 1
      }
      guard number > 0, let exact = UInt16(exactly: number) else { return nil }
      port = exact
    }
    guard index < bytes.count, unsafe bytes[index] == UInt8(ascii: "/") else { return nil }
    guard unsafe hasPlainPath(bytes, from: index) else { return nil }
    return Parts(isSecure: isSecure, host: host, port: port, hasPort: hasPort, pathStart: index)
  }

  private static func hasPlainPath(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
    var index = start
    var last: UInt8 = 0
    while index < bytes.count {
      let byte = unsafe bytes[index]
      guard isPathByte(byte) else { return false }
      // Perhaps a dot segment.
      if byte == UInt8(ascii: "."), last == UInt8(ascii: "/") { return false }
      last = byte
      index += 1
    }
    // Perhaps an empty query, which libcurl drops.
    return last != UInt8(ascii: "?")
  }

  private static func starts(_ bytes: UnsafeBufferPointer<UInt8>, with prefix: StaticString) -> Bool {
    guard bytes.count > prefix.utf8CodeUnitCount else { return false }
    for index in 0..<prefix.utf8CodeUnitCount
    where unsafe bytes[index] != prefix.utf8Start[index] {
      return false
    }
    return true
  }

  private static func digit(_ byte: UInt8) -> Int? {
    byte >= 0x30 && byte <= 0x39 ? Int(byte - 0x30) : nil
  }

  private static func isSmallLetter(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    isSmallLetter(byte) || digit(byte) != nil || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  /// A name whose last label begins with a letter, or four plain numbers: libcurl reads other numbers as
  /// addresses, too.
  private static func isPlainHost(_ host: UnsafeBufferPointer<UInt8>) -> Bool {
    var labelStart = 0
    var numbers = 0
    var labels = 0
    var lastIsName = false
    for index in 0...host.count {
      if index < host.count, unsafe host[index] != UInt8(ascii: ".") { continue }
      let label = unsafe UnsafeBufferPointer(rebasing: host[labelStart..<index])
      guard let first = unsafe label.first else { return false }
      if first == UInt8(ascii: "-") { return false }
      labels += 1
      lastIsName = isSmallLetter(first)
      if unsafe isPlainByteNumber(label) { numbers += 1 }
      labelStart = index + 1
    }
    return lastIsName || (labels == 4 && numbers == 4)
  }

  private static func isPlainByteNumber(_ label: UnsafeBufferPointer<UInt8>) -> Bool {
    guard label.count <= 3 else { return false }
    if label.count > 1, unsafe label[0] == UInt8(ascii: "0") { return false }
    var number = 0
    for index in 0..<label.count {
      guard let digit = unsafe digit(label[index]) else { return false }
      number = number * 10 + digit
    }
    return number <= 255
  }

  /// Unreserved and delimiters (RFC 3986 §2), but for those that end a path and query or escape.
  private static func isPathByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "&")...UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "?"), UInt8(ascii: "@"),
      UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"), UInt8(ascii: "$"):
      true
    default: false
    }
  }
}
