import CLinux
import Glibc

/// Starts named, detached threads on which every signal is blocked.
///
/// Detached, as nobody joins a loop thread: whoever wants to know its end waits for a continuation, so the
/// last reference to everything may well be dropped on the thread itself.
enum LoopThread {
  private final class Start {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// `name` is cut to the 15 bytes the kernel keeps. `body` is released on the new thread.
  static func run(name: String, _ body: @escaping @Sendable () -> Void) throws(PollLoopError) {
    let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))

    // A new thread inherits the mask of its creator: with all blocked here, none can arrive before the
    // thread could block them itself.
    var all = sigset_t()
    var previous = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &previous)
    var thread = pthread_t()
    let failure = unsafe pthread_create(
      &thread, &attributes,
      { argument in
        if let argument = unsafe argument { unsafe LoopThread.main(argument) }
        return nil
      }, start.toOpaque())
    unsafe pthread_sigmask(SIG_SETMASK, &previous, nil)
    guard failure == 0 else {
      unsafe start.release()
      throw .threadUnavailable(errno: failure)
    }
  }

  private static func main(_ argument: UnsafeMutableRawPointer) {
    let start = unsafe Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
    _ = unsafe start.name.withCString { unsafe cshims_set_thread_name($0) }
    start.body()
  }
}
