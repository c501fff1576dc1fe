import PollLoop
import StreamCore
import Synchronization

/// What a loop knows of its want of descriptors.
struct DescriptorShortage {
  /// Transfers that found none, in line.
  var line: [Transfer] = []
  var timer: ShortageTimer?
  var isTimerSet = false
  /// When the other loops were asked to give theirs.
  var lastAsked: UInt64 = 0
  /// Until then what nobody uses is closed at once, for others; 0: it is kept.
  var givesUntil: UInt64 = 0
}

/// Tells a loop that those that wait for a descriptor may try again.
final class ShortageTimer: LoopMessageReceiver {
  private unowned let loop: CurlLoop

  init(_ loop: CurlLoop) { self.loop = loop }

  func receive(_ code: UInt8) { loop.onThread(()) { loop, _ in loop.shortageTimerCame() } }
}

/// The loops of a client: one that has no descriptor asks the others for those of their kept connections.
final class DescriptorRelief: Sendable {
  private let helpers = Mutex<[(loop: ObjectIdentifier, help: @Sendable () -> Void)]>([])

  func join(_ loop: CurlLoop) {
    let help: @Sendable () -> Void = { [weak loop] in
      guard let loop else { return }
      _ = loop.executor.post(ReliefCall(loop), 0)
    }
    helpers.withLock { $0.append((ObjectIdentifier(loop), help)) }
  }

  func ask(for loop: CurlLoop) {
    let all = helpers.withLock { $0 }
    for (other, help) in all where other != ObjectIdentifier(loop) { help() }
  }
}

/// Asks a loop to close the connections that it keeps.
private final class ReliefCall: LoopMessageReceiver {
  private let loop: CurlLoop

  init(_ loop: CurlLoop) { self.loop = loop }

  func receive(_ code: UInt8) { loop.onThread(()) { loop, _ in loop.closeKept() } }
}
