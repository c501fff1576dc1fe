import Glibc

/// What a descriptor leads to.
struct Terminal: Sendable {
  let descriptor: Int32

  static let standardError = Terminal(descriptor: STDERR_FILENO)
  static let standardOutput = Terminal(descriptor: STDOUT_FILENO)

  var isTerminal: Bool { isatty(descriptor) == 1 }

  /// Whether a line can be drawn over: a terminal that knows how to go back.
  var canRedraw: Bool {
    guard isTerminal, let kind = getenv("TERM") else { return false }
    return strcmp(kind, "dumb") != 0
  }

  /// Columns and rows as they are now: asked for at each drawing, so that a resized window needs no signal. Nil
  /// where there is no terminal or it doesn't say.
  var size: (columns: Int, rows: Int)? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
  }

  /// Whether the terminal is ours to draw on: not while the shell has this process in the background. True
  /// where nobody controls jobs.
  var isForeground: Bool {
    let group = tcgetpgrp(descriptor)
    return group < 0 || group == getpgrp()
  }
}
