/// Hands a body out at no more than so many bytes a second, evenly; the network is held back by back-pressure.
///
/// libcurl's own limit lets a second's bytes through at once.
final class PacedBodySource: BodySource, @unchecked Sendable {
  // Sendable: one task at a time reads it.
  private static let smallestPiece: Int64 = 1 << 10
  private static let piecesPerSecond: Int64 = 8
  private static let mostBehind = Duration.seconds(1)

  private let source: any BodySource
  private let rate: Int64
  private let clock: any Clock<Duration>
  private let elapsed: () -> Duration
  private var rest: BodyChunk?
  /// When the next byte may go, on the clock of `elapsed`; nil before the first.
  private var due: Duration?

  init<C: Clock>(_ source: any BodySource, rate: Int64, clock: C = ContinuousClock())
  where C.Duration == Duration {
    self.source = source
    self.rate = max(1, rate)
    self.clock = clock
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    let available: BodyChunk?
    if let rest { available = rest } else { available = try await source.next() }
    guard let chunk = available else { return nil }
    let size = Int(clamping: min(Int64(chunk.count), max(Self.smallestPiece, rate / Self.piecesPerSecond)))
    let split = chunk.startIndex + size
    rest = size < chunk.count ? chunk[split...] : nil
    let now = elapsed()
    // A reader that was slow doesn't make up for it at once.
    var due = max(self.due ?? now, now - Self.mostBehind)
    due += .nanoseconds(Int64(clamping: Int128(size) * 1_000_000_000 / Int128(rate)))
    self.due = due
    if due > now {
      do { try await clock.sleep(for: due - now) } catch { throw HTTPError.cancelled(phase: .body) }
    }
    return chunk[chunk.startIndex..<split]
  }

  func abandon() {
    rest = nil
    source.abandon()
  }
}
