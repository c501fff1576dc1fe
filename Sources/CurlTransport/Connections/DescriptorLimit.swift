import Glibc

/// How many descriptors the process may have.
enum DescriptorLimit {
  static var current: Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(7), &limit) == 0 else { return 1024 }
    return Int(clamping: limit.rlim_cur)
  }

  /// So many are left to others: look-ups, files of roots, and the timers of the tasks' own threads, without which the
  /// process would end.
  private static func reserve(of limit: Int) -> Int { max(1, min(8, limit / 8)) }

  /// Whether a descriptor is one of those: the kernel gives the lowest that is free.
  static func isReserved(_ descriptor: Int32) -> Bool {
    let limit = current
    return Int(descriptor) >= limit - reserve(of: limit)
  }

  /// A look-up needs a few at a time: a pair to be told, a file, a socket.
  private static let needed = 4

  /// Whether there are too few left for a look-up or a file.
  static var isReached: Bool {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    for _ in 0..<needed {
      let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return errno == EMFILE || errno == ENFILE }
      opened.append(descriptor)
    }
    return false
  }

  /// At most an eighth of them for the connections that one loop keeps.
  static func kept(_ wanted: Int) -> Int { min(wanted, max(4, current / 8)) }
}
