import Glibc

/// A blocking client socket that tests drive byte by byte. Reads give up after ten seconds.
final class RawClient {
  enum Failure: Error { case system(String, Int32) }

  private(set) var descriptor: Int32

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure.system("socket", errno) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    try connect(&address)
  }

  init(path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure.system("socket", errno) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    try connect(&address)
  }

  deinit { close() }

  private func connect<Address>(_ address: inout Address) throws {
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let size = socklen_t(MemoryLayout<Address>.size)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) }
    }
    guard result == 0 else { throw Failure.system("connect", errno) }
  }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(
          descriptor, UnsafeRawBufferPointer(rebasing: $0[sent...]).baseAddress, bytes.count - sent,
          Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure.system("send", errno) }
      sent += count
    }
  }

  /// At most `limit` bytes; empty at the end of the stream.
  func read(upTo limit: Int = 64 << 10) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: limit)
    let count = recv(descriptor, &buffer, limit, 0)
    guard count >= 0 else { throw Failure.system("recv", errno) }
    return Array(buffer[0..<count])
  }

  func read(exactly count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let more = try read(upTo: count - bytes.count)
      if more.isEmpty { break }
      bytes += more
    }
    return bytes
  }

  func readText(exactly count: Int) throws -> String {
    String(decoding: try read(exactly: count), as: UTF8.self)
  }

  func readAll() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let more = try read()
      if more.isEmpty { return bytes }
      bytes += more
    }
  }

  func readAllText() throws -> String { String(decoding: try readAll(), as: UTF8.self) }

  /// The head of one response.
  func readHead() throws -> String {
    var bytes: [UInt8] = []
    while bytes.suffix(4) != [13, 10, 13, 10] {
      let more = try read(upTo: 1)
      if more.isEmpty { break }
      bytes += more
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  func get(_ path: String, fields: String = "") throws {
    try send("GET \(path) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
  }

  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }
}

/// How many entries a directory of this process has, such as its descriptors or its threads.
func entryCount(_ path: String) -> Int {
  guard let directory = opendir(path) else { return -1 }
  defer { closedir(directory) }
  var count = 0
  while readdir(directory) != nil { count += 1 }
  return count
}
