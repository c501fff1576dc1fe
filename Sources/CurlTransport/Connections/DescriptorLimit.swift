import Glibc

/// How many descriptors the process may have.
enum DescriptorLimit {
  static var current: Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(7), &limit) == 0 else { return 1024 }
    return Int(clamping: limit.rlim_cur)
  }

  /// At most an eighth of them for the connections that one loop keeps.
  static func kept(_ wanted: Int) -> Int { min(wanted, max(4, current / 8)) }
}
