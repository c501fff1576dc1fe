import Glibc
import Synchronization

/// Takes the place of the system's resolver in this process: names under `hang.test` are never answered before
/// `release`, all others don't exist.
enum Resolver {
  static let running = Atomic<Int>(0)
  static let most = Atomic<Int>(0)
  static let isReleased = Atomic<Bool>(false)
}

@_cdecl("getaddrinfo")
func interposedLookup(
  _ name: UnsafePointer<CChar>?, _ service: UnsafePointer<CChar>?, _ hints: UnsafeRawPointer?,
  _ result: UnsafeMutableRawPointer?
) -> Int32 {
  let now = Resolver.running.add(1, ordering: .sequentiallyConsistent).newValue
  Resolver.most.max(now, ordering: .sequentiallyConsistent)
  while !Resolver.isReleased.load(ordering: .sequentiallyConsistent) { usleep(1000) }
  Resolver.running.subtract(1, ordering: .sequentiallyConsistent)
  return EAI_NONAME
}
