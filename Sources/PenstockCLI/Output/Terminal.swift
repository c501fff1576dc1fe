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

  /// The columns there are now: asked for at each drawing, so that a resized window needs no signal. Nil where
  /// there is no terminal or it doesn't say.
  var width: Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }
}
