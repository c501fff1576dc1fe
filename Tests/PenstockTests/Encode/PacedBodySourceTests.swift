import StreamCore
import Synchronization
import Testing

@testable import Penstock

@Suite struct PacedBodySourceTests {
  /// A clock on which sleeping takes no time.
  private final class LeapClock: Clock, Sendable {
    struct Instant: InstantProtocol {
      var offset: Duration
      func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
      func duration(to other: Instant) -> Duration { other.offset - offset }
      static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }
    private let state = Mutex(Duration.zero)
    var now: Instant { Instant(offset: state.withLock { $0 }) }
    var minimumResolution: Duration { .nanoseconds(1) }
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
      try Task.checkCancellation()
      state.withLock { $0 = max($0, deadline.offset) }
    }
    func advance(_ by: Duration) { state.withLock { $0 += by } }
  }

  @Test("so many bytes take so long, evenly", arguments: [(1000, 1000), (100_000, 8000), (10, 1_000_000)])
  func pace(count: Int, rate: Int64) async throws {
    let clock = LeapClock()
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let source = PacedBodySource(ChunkSource(BodyChunk(bytes)), rate: rate, clock: clock)
    var all: [UInt8] = []
    while let chunk = try await source.next() {
      all += chunk
      let ideal = Duration.seconds(Double(all.count) / Double(rate))
      #expect(clock.now.offset >= ideal - .milliseconds(1))
    }
    #expect(all == bytes)
    #expect(clock.now.offset <= .seconds(Double(count) / Double(rate)) + .milliseconds(1))
  }

  @Test func `a slow reader doesn't make up for it at once`() async throws {
    let clock = LeapClock()
    let source = PacedBodySource(
      ChunkSource(BodyChunk([UInt8](repeating: 1, count: 20_000))), rate: 1000, clock: clock)
    _ = try await source.next()
    clock.advance(.seconds(100))
    let begin = clock.now.offset
    while try await source.next() != nil {}
    #expect(clock.now.offset - begin > .seconds(17))
  }

  @Test func `a cancelled reader is told so`() async throws {
    let source = PacedBodySource(ChunkSource(BodyChunk([1, 2, 3])), rate: 1)
    let reader = Task { try await source.next() }
    reader.cancel()
    await #expect(throws: HTTPError.cancelled) { try await reader.value }
  }
}
