import StreamCore
import Dispatch
import Penstock
import Synchronization

/// Shows progress on standard error: lines redrawn in place on a terminal, else one line a second. All that is
/// written there while it shows goes through `say`.
///
/// Writing happens on a queue of its own: a terminal that was stopped (^S) stops nothing else.
final class ProgressDisplay: Sendable {
  /// Owned by the queue.
  private struct Drawing: Sendable {
    var painter = ProgressPainter()
    var pacing: ProgressPacing
    var last = Duration.zero
  }

  /// Where there is no terminal to ask.
  private static let plainWidth = 80
  /// After such a gap the process was stopped, and the shell has written meanwhile.
  private static let stopGap = Duration.milliseconds(1500)

  private let writer: DescriptorWriter
  private let terminal: Terminal
  private let redraws: Bool
  private let begin = ContinuousClock.now
  private let delay: Duration
  private let board: Mutex<ProgressBoard>
  private let drawing: Mutex<Drawing>
  private let queue = DispatchQueue(label: "penstock.progress")
  // Safe: sources may be used from any thread.
  private nonisolated(unsafe) let timer: any DispatchSourceTimer

  /// For `count` transfers; nothing is shown before `delay`.
  init(count: Int, delay: Duration = .zero, descriptor: Int32 = Terminal.standardError.descriptor) {
    writer = DescriptorWriter(descriptor: descriptor)
    terminal = Terminal(descriptor: descriptor)
    redraws = terminal.canRedraw
    self.delay = delay
    board = Mutex(ProgressBoard(count: count))
    drawing = Mutex(Drawing(pacing: ProgressPacing(interval: .seconds(1), delay: .seconds(1))))
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(
      deadline: .now() + .milliseconds(100), repeating: .milliseconds(100), leeway: .milliseconds(20))
    timer.setEventHandler { [weak self] in self?.draw() }
    timer.activate()
  }

  deinit { timer.cancel() }

  private var now: Duration { ContinuousClock.now - begin }

  func start(_ key: Int, name: String) {
    let now = now
    board.withLock { $0.start(key, name: name, at: now) }
  }

  func rename(_ key: Int, _ name: String, total: Int64?) {
    let now = now
    board.withLock { $0.rename(key, name, total: total, at: now) }
  }

  func progress(_ key: Int, _ progress: TransferProgress) {
    let now = now
    board.withLock { $0.progress(key, progress, at: now) }
  }

  func end(_ key: Int, bytes: Int64?) { board.withLock { $0.end(key, bytes: bytes) } }

  /// A line that stays, above the bars.
  func say(_ line: String) {
    let line = PlainText.oneLine(line)
    board.withLock { $0.say(line) }
  }

  /// Writes what was said and takes the bars away; returns when that is done.
  func finish() async {
    await withCheckedContinuation { continuation in
      queue.async {
        self.timer.cancel()
        self.draw(last: true)
        continuation.resume()
      }
    }
  }

  /// On the queue.
  private func draw(last: Bool = false) {
    let text = drawing.withLock { redraws ? redraw(&$0, last: last) : plain(&$0, last: last) }
    // Failing to draw is nothing to end a transfer for.
    if !text.isEmpty { try? writer.write(text) }
  }

  private func redraw(_ drawing: inout Drawing, last: Bool) -> String {
    let now = now
    if now - drawing.last > Self.stopGap { drawing.painter.forget() }
    drawing.last = now
    guard last || terminal.isForeground else {
      drawing.painter.forget()
      return ""
    }
    let size = terminal.size ?? (Self.plainWidth, 24)
    let hides = last || now < delay
    // Terminals differ in what they do after writing the last column: leave it empty. One row is left for the
    // line that a message or the prompt ends with.
    let (messages, lines) = board.withLock { board in
      (
        board.takeMessages(),
        hides ? [] : board.lines(width: size.columns - 1, height: max(1, size.rows - 1), at: now)
      )
    }
    return drawing.painter.frame(messages: messages, lines: lines, width: size.columns)
  }

  private func plain(_ drawing: inout Drawing, last: Bool) -> String {
    let now = now
    let isDue = !last && now >= delay && drawing.pacing.isDue(at: now)
    let lines = board.withLock { board in
      board.takeMessages()
        + (isDue ? [board.line(width: Self.plainWidth - 1, at: now)].compactMap { $0 } : [])
    }
    return lines.map { $0 + "\n" }.joined()
  }
}
