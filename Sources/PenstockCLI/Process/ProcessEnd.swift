import Glibc

/// The way out of the process.
enum ProcessEnd {
  static func exit(with status: ExitStatus) -> Never { Glibc.exit(status.code) }

  /// Without running anything that was registered for the end: other threads may hold locks.
  static func exitAtOnce(with status: ExitStatus) -> Never { _exit(status.code) }
}
