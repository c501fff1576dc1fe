internal import Glibc

/// A plain thread with all signals blocked. It must be joined or detached exactly once.
struct SystemThread: Sendable {
  private let handle: pthread_t

  /// Starts a thread that runs `body`.
  init(stackSize: Int = 256 << 10, _ body: @escaping @Sendable () -> Void) throws(TestServerError) {
    let box = Unmanaged.passRetained(Body(body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackSize)

    // A new thread inherits the mask: block all signals around its creation, so that none reaches it.
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    var handle = pthread_t()
    let code = pthread_create(
      &handle, &attributes,
      { argument in
        if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
        return nil
      }, box.toOpaque())
    guard code == 0 else {
      box.release()
      throw .systemCall("pthread_create", code: code)
    }
    self.handle = handle
  }

  /// Waits until the thread has ended.
  func join() { pthread_join(handle, nil) }

  /// Lets the thread free itself when it ends.
  func detach() { pthread_detach(handle) }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
