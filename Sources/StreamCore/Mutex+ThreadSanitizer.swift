#if THREAD_SANITIZER
  internal import Glibc

  /// Stands in for `Synchronization.Mutex` in builds for the thread sanitizer, which cannot see into that type
  /// (its futex calls lie in the uninstrumented standard library) and so reports every guarded access as a race:
  /// `swift test --sanitize=thread -Xswiftc -DTHREAD_SANITIZER`. Each module that has locks gives it the usual name
  /// by an alias of its own, as a name that is imported twice would be ambiguous.
  ///
  /// Unchecked: the value is only reached inside `withLock`.
  package final class SanitizedMutex<Value: ~Copyable>: @unchecked Sendable {
    private let handle: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: consuming sending Value) {
      self.value = value
      handle = .allocate(capacity: 1)
      pthread_mutex_init(handle, nil)
    }

    deinit {
      pthread_mutex_destroy(handle)
      handle.deallocate()
    }

    package func withLock<Result, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      pthread_mutex_lock(handle)
      defer { pthread_mutex_unlock(handle) }
      return try body(&value)
    }
  }

  typealias Mutex = SanitizedMutex
#endif
