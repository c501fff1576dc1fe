import Glibc
import TestSupport

/// What this process holds now.
enum ProcessFacts {
  /// Open descriptors but for timers: those belong to the tasks' own threads, which make one when it pleases them.
  static var descriptors: Int {
    names("/proc/self/fd").count { !target("/proc/self/fd/\($0)").hasSuffix("[timerfd]") }
  }

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

  private static func target(_ link: String) -> String {
    var text = [CChar](repeating: 0, count: 256)
    let length = readlink(link, &text, text.count)
    return length > 0 ? String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
  }

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

  /// Waits for what nothing signals.
  static func eventually(_ isMet: () -> Bool) async -> Bool { await TestSupport.eventually(isMet) }
}
