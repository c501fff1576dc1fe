import Glibc

/// A value behind a plain pthread mutex.
///
/// Not `Synchronization.Mutex`: when that is contended it waits inside the uninstrumented library, and the
/// thread sanitizer then reports races where there are none (three threads that append to one array behind
/// a `Mutex` are enough), which would drown real ones. It is also a priority-inheriting futex, which goes
/// through the kernel at both ends of every contended hold.
// @unchecked: the value is only reached through the mutex.
@safe struct LoopLock<Value>: ~Copyable, @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let value: UnsafeMutablePointer<Value>

  init(_ initial: consuming sending Value) {
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe value = .allocate(capacity: 1)
    unsafe value.initialize(to: initial)
  }

  deinit {
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  func withLock<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe body(&value.pointee)
  }
}
