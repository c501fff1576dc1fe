import Glibc

/// What this process holds now.
enum ProcessFacts {
  static var descriptors: Int { count("/proc/self/fd") }
  static var threads: Int { count("/proc/self/task") }

  private static func count(_ path: String) -> Int {
    guard let directory = opendir(path) else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while let entry = readdir(directory) {
      if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
    }
    return count
  }

  /// Waits until a condition holds that nothing signals.
  static func eventually(_ isMet: () -> Bool) async -> Bool {
    for _ in 0..<2000 {
      if isMet() { return true }
      try? await Task.sleep(for: .milliseconds(5))
    }
    return false
  }
}
