import Dispatch
import Penstock
import Synchronization

/// Shows how far a batch is: a line redrawn in place on a terminal, else a line a second on standard error, or
/// JSON lines in the output. It draws on a queue of its own, so that a stopped terminal stops nothing else.
final class BatchDisplay: Sendable {
  enum Kind: Sendable, Equatable {
    case redrawn
    case lines
    case json
  }

  private struct Drawing: Sendable {
    var bar = BatchBar()
    var painter = ProgressPainter()
    var pacing = ProgressPacing(interval: .seconds(1), delay: .seconds(1))
  }

  private static let plainWidth = 80

  private let kind: Kind
  private let terminal = Terminal.standardError
  private let begin = ContinuousClock.now
  private let standing: @Sendable () -> BatchBar.Standing
  private let output: QueuedOutput
  private let drawing = Mutex(Drawing())
  private let queue = DispatchQueue(label: "penstock.progress")
  // Safe: sources may be used from any thread.
  private nonisolated(unsafe) let timer: any DispatchSourceTimer

  /// How a run shows its progress; nil when it doesn't.
  static func kind(_ settings: Settings) -> Kind? {
    switch settings.progress {
    case .none: nil
    case .json: .json
    case .bar: Terminal.standardError.canRedraw ? .redrawn : .lines
    case .auto: settings.isSilent ? nil : Terminal.standardError.canRedraw ? .redrawn : .lines
    }
  }

  /// `standing` is asked whenever something is to be drawn.
  init(_ kind: Kind, output: QueuedOutput, standing: @escaping @Sendable () -> BatchBar.Standing) {
    self.kind = kind
    self.output = output
    self.standing = standing
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(
      deadline: .now() + .milliseconds(200), repeating: .milliseconds(200), leeway: .milliseconds(50))
    timer.setEventHandler { [weak self] in self?.draw(last: false) }
    timer.activate()
  }

  deinit { timer.cancel() }

  /// Takes the bar away; returns when that is done.
  func finish() async {
    await withCheckedContinuation { continuation in
      queue.async {
        self.timer.cancel()
        self.draw(last: true)
        continuation.resume()
      }
    }
  }

  private func draw(last: Bool) {
    let now = ContinuousClock.now - begin
    let standing = standing()
    let text = drawing.withLock { drawing in
      drawing.bar.update(standing, at: now)
      return self.text(&drawing, standing, now, last: last)
    }
    guard !text.isEmpty else { return }
    if kind == .json {
      output.add(Array(text.utf8))
    } else {
      // Failing to draw is nothing to end a batch for.
      try? DescriptorWriter.standardError.write(text)
    }
  }

  private func text(
    _ drawing: inout Drawing, _ standing: BatchBar.Standing, _ now: Duration, last: Bool
  ) -> String {
    switch kind {
    case .redrawn:
      guard last || terminal.isForeground else {
        drawing.painter.forget()
        return ""
      }
      let width = terminal.size?.columns ?? Self.plainWidth
      let lines = last ? [] : [drawing.bar.line(standing, at: now, width: width - 1)]
      return drawing.painter.frame(messages: [], lines: lines, width: width)
    case .lines:
      guard !last, drawing.pacing.isDue(at: now) else { return "" }
      return drawing.bar.line(standing, at: now, width: Self.plainWidth - 1) + "\n"
    case .json:
      guard !last, drawing.pacing.isDue(at: now) else { return "" }
      return String(decoding: drawing.bar.json(standing, at: now), as: UTF8.self)
    }
  }
}
