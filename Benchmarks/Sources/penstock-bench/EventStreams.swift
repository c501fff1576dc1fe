import BenchOptions
import BenchReport
import Penstock

/// Many open event streams in one loop, each with an event a second: what does each cost, and does any event go
/// missing? The peer numbers the events of each stream from 0.
struct EventStreams: Sendable {
  private static let warmUp = 8
  let options: Options

  @concurrent func run() async throws {
    let client = options.client(parallel: 1)
    var first = Reading(client, options.url, streams: Self.warmUp)
    try await first.readUntilAllAreOpen()
    let before = bench_resident_kib()
    var reading = Reading(client, options.url, streams: options.streams)
    try await reading.readUntilAllAreOpen()
    // The burst of connecting isn't what is measured.
    try await reading.read(for: .seconds(2))
    bench_begin()
    let count = try await reading.read(for: .seconds(options.hold))
    bench_end()
    let after = bench_resident_kib()
    bench_note("kib_per_stream", Double(after - before) / Double(options.streams))
    bench_note("events_per_stream_and_second", Double(count) / Double(options.streams) / options.hold)
    bench_print(options.mode, Int64(count), 0)
    await client.shutdown(.immediate)
  }

  /// One `for await` over all streams, in parts.
  private struct Reading {
    private var events: MergedEvents.AsyncIterator
    /// The number that comes next, for each stream.
    private var next: [Int]

    init(_ client: Client, _ url: String, streams: Int) {
      events = client.merge((0..<streams).map { _ in client.eventSource(.get(url)) }).makeAsyncIterator()
      next = Array(repeating: 0, count: streams)
    }

    mutating func readUntilAllAreOpen() async throws {
      var closed = next.count
      while closed > 0 {
        if try await take() == 0 { closed -= 1 }
      }
    }

    /// How many events came in this time.
    @discardableResult
    mutating func read(for time: Duration) async throws -> Int {
      let end = ContinuousClock.now + time
      var count = 0
      while ContinuousClock.now < end {
        _ = try await take()
        count += 1
      }
      return count
    }

    private mutating func take() async throws -> Int {
      guard let item = try await events.next(), let event = item.element else {
        throw UnexpectedAnswer(what: "a stream that ended")
      }
      let number = next[item.source]
      guard Int(event.data) == number else {
        throw UnexpectedAnswer(what: "\(event.data) after \(number) events")
      }
      next[item.source] += 1
      return number
    }
  }
}
