/// Shows progress on standard error: a bar redrawn in place on a terminal, else a line a second. One owner; the
/// bar must be cleared before anything else is written to the terminal.
struct ProgressDrawer {
  private let writer: DescriptorWriter
  private let terminal: Terminal
  private let redraws: Bool
  private var pacing: ProgressPacing
  private var isShown = false
  /// Where there is no terminal to ask.
  private static let plainWidth = 80

  init(descriptor: Int32 = Terminal.standardError.descriptor) {
    writer = DescriptorWriter(descriptor: descriptor)
    terminal = Terminal(descriptor: descriptor)
    redraws = terminal.canRedraw
    pacing =
      redraws
      ? ProgressPacing(interval: .milliseconds(100))
      : ProgressPacing(interval: .seconds(1), delay: .seconds(1))
  }

  /// Draws if it is time to; `elapsed` is the time since the start of the transfer, `name` what it is called.
  /// Failing to draw is nothing to end a transfer for.
  mutating func update(
    elapsed: Duration, received: Int64, total: Int64?, rate: Double?, eta: Double?, name: String
  ) {
    guard pacing.isDue(at: elapsed) else { return }
    // Terminals differ in what they do after writing the last column: leave it empty.
    let width = (terminal.width ?? Self.plainWidth) - 1
    let line = ProgressBar.render(
      width: width, received: received, total: total, rate: rate, eta: eta, name: name)
    try? writer.write(redraws ? "\r\(line)\u{1B}[K" : line + "\n")
    isShown = redraws
  }

  /// Takes the bar away; at the end, and before other text.
  mutating func clear() {
    guard isShown else { return }
    try? writer.write("\r\u{1B}[K")
    isShown = false
  }
}
