import Synchronization

/// A limit of speed that several streams share and that can change at any time.
final class RateLimiter: Sendable {
  private let bucket: Mutex<ByteBucket>
  /// So long a change of the rate may take to be felt by those who wait.
  private static let slice = Duration.milliseconds(100)

  init(_ rate: ByteRate?) { bucket = Mutex(ByteBucket(rate: rate, now: .now)) }

  var rate: ByteRate? { bucket.withLock { $0.rate } }

  /// The largest piece to take at once.
  var piece: Int { bucket.withLock { $0.piece } }

  func set(_ rate: ByteRate?) {
    let now = MonotonicInstant.now
    bucket.withLock { $0.set(rate: rate, now: now) }
  }

  /// Waits until so many bytes may pass. Ends early when the task is cancelled.
  func pass(_ count: Int) async {
    let start = MonotonicInstant.now
    var (wait, rate) = bucket.withLock { ($0.take(count, now: start), $0.rate) }
    while wait > .zero, !Task.isCancelled, let known = rate {
      let part = min(wait, Self.slice)
      guard (try? await Task.sleep(for: part)) != nil else { return }
      wait -= part
      rate = self.rate
      guard let rate, rate != known else { continue }
      wait = wait * (Double(known.bytesPerSecond) / Double(rate.bytesPerSecond))
    }
  }
}
