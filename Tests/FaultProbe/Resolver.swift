import Glibc

/// The counters of `Tests/Scripts/hanging_resolver.c`, which must be preloaded.
enum Resolver {
  static var running: Int { number("hang_running") }
  static var most: Int { number("hang_most") }

  static func release() { counter("hang_released")?.pointee = 1 }

  private static func number(_ name: String) -> Int { counter(name).map { Int($0.pointee) } ?? -1 }

  private static func counter(_ name: String) -> UnsafeMutablePointer<Int32>? {
    dlsym(nil, name)?.assumingMemoryBound(to: Int32.self)
  }
}
