import Glibc

/// A listener whose queue is full: the kernel leaves further connections unanswered.
struct FullListener {
  let port: UInt16
  private let descriptors: [Int32]

  init() {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    var descriptors = [listener]
    withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        _ = bind(listener, pointer, length)
        _ = listen(listener, 0)
        _ = getsockname(listener, pointer, &length)
        for _ in 0..<4 {
          let filler = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
          _ = connect(filler, pointer, length)
          descriptors.append(filler)
        }
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    self.descriptors = descriptors
  }

  func stop() { for descriptor in descriptors { close(descriptor) } }
}
