import Glibc

/// What this process holds now.
enum ProcessFacts {
  static var descriptors: Int { count("/proc/self/fd") }

  /// Threads of loops and of look-ups: those that the tasks run on come and go.
  static var loopThreads: Int {
    names("/proc/self/task").count { name(ofThread: $0).hasPrefix("penstock") }
  }

  private static func name(ofThread id: String) -> String {
    guard let file = fopen("/proc/self/task/\(id)/comm", "r") else { return "" }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 32)
    guard fgets(&line, 32, file) != nil else { return "" }
    return String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func count(_ path: String) -> Int { names(path).count }

  private static func names(_ path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
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
