import StreamCore
import Glibc
import Synchronization

/// SIGINT and SIGTERM, taken by the main thread, which does nothing else; SIGPIPE is ignored and met as `EPIPE`.
///
/// The first signal is handed to the handler, or ends the process where there is none. A second one ends it at
/// once, as does the grace that the handler gave running out; where the handler gave any time, the second one is
/// handed to it, too, and a third ends the process. Signals that were inherited as ignored (as in
/// `penstock … &` of a script) are heeded all the same: whoever sends one means it.
enum Interrupts {
  /// Gets the signal's number, and says how long the rest may take before the process is ended; nil for any time.
  typealias Handler = @Sendable (_ signal: Int32, _ isFirst: Bool) -> Duration?

  private static let handler = Mutex<Handler?>(nil)
  private static let latest = Atomic<Int32>(0)

  /// The signal that came, if one has; the latest of them.
  static var received: Int32? {
    let number = latest.load(ordering: .acquiring)
    return number == 0 ? nil : number
  }

  /// Blocks the signals. Before any other thread starts: those inherit what is blocked.
  static func block() {
    signal(SIGPIPE, SIG_IGN)
    var signals = watched
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Sets what is called with the first signal, on the main thread.
  static func onSignal(_ new: Handler?) {
    handler.withLock { $0 = new }
  }

  private static var watched: sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    return signals
  }

  /// Waits for signals and acts on them; the main thread's only work.
  static func wait() -> Never {
    var signals = watched
    var number: Int32 = 0
    while sigwait(&signals, &number) != 0 {}
    latest.store(number, ordering: .releasing)
    guard let handler = handler.withLock({ $0 }) else { ProcessEnd.exitAtOnce(with: .signalled(number)) }
    var grace = handler(number, true)
    if grace == nil, let second = awaitSecond(within: nil) {
      number = second
      latest.store(number, ordering: .releasing)
      grace = handler(number, false) ?? .zero
    }
    ProcessEnd.exitAtOnce(with: .signalled(awaitSecond(within: grace) ?? number))
  }

  /// The next signal, or nil when the grace has run out.
  private static func awaitSecond(within grace: Duration?) -> Int32? {
    var signals = watched
    guard let grace else {
      var number: Int32 = 0
      while sigwait(&signals, &number) != 0 {}
      return number
    }
    let end = ContinuousClock.now + grace
    while true {
      let left = max(.zero, end - .now).components
      var limit = timespec(
        tv_sec: Int(left.seconds), tv_nsec: Int(left.attoseconds / 1_000_000_000))
      let number = sigtimedwait(&signals, nil, &limit)
      if number > 0 { return number }
      if errno != EINTR { return nil }
    }
  }
}
