import Penstock
import StreamCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct TimedStreamTests {
  @Test func `a throttled stream leaves out what is old and always gives the last`() async {
    let clock = ManualClock()
    let (stream, tell) = AsyncStream<Int>.makeStream()
    for number in 1...100 { tell.yield(number) }
    tell.finish()
    let ticking = ticking(clock)
    let (seen, error) = await collected(stream.throttled(for: .seconds(1), clock: clock))
    ticking.cancel()
    #expect(error == nil)
    #expect(seen == seen.sorted())
    #expect(seen.last == 100)
  }

  @Test func `a throttled stream waits for its interval between two elements`() async throws {
    let clock = ManualClock()
    let (stream, tell) = AsyncStream<Int>.makeStream()
    var sleeps = clock.sleeps.makeAsyncIterator()
    let (seen, see) = AsyncStream<Int>.makeStream()
    let task = Task {
      for try await number in stream.throttled(for: .seconds(1), clock: clock) { see.yield(number) }
      see.finish()
    }
    var numbers = seen.makeAsyncIterator()
    tell.yield(1)
    #expect(await numbers.next() == 1)
    #expect(await sleeps.next() == .seconds(1))
    tell.yield(2)
    clock.advance(by: .seconds(1))
    #expect(await numbers.next() == 2)
    #expect(await sleeps.next() == .seconds(1))
    tell.finish()
    clock.advance(by: .seconds(1))
    #expect(await numbers.next() == nil)
    try await task.value
  }

  /// Lets the clock go on and on.
  private func ticking(_ clock: ManualClock) -> Task<Void, Never> {
    Task {
      while !Task.isCancelled {
        clock.advance(by: .seconds(5))
        await Task.yield()
      }
    }
  }

  @Test func `a throttled stream passes failures on`() async {
    struct Oops: Error {}
    let stream = AsyncThrowingStream<Int, any Error> { $0.finish(throwing: Oops()) }
    #expect(await collected(stream.throttled(for: .zero)).1?.kind == .readFailed)
  }

  @Test func `a stream that keeps to its limits is unchanged`() async {
    let (seen, error) = await collected(
      ResponseBody(Array("a\nb\n".utf8)).lines.timeLimited(each: .seconds(60), total: .seconds(60)))
    #expect(seen == ["a", "b"])
    #expect(error == nil)
    #expect(await collected(ResponseBody(Array("a\n".utf8)).lines.timeLimited()).0 == ["a"])
  }

  @Test func `an element that takes too long fails the stream and ends it`() async throws {
    let clock = ManualClock()
    let (ended, tell) = AsyncStream<Void>.makeStream()
    let stream = AsyncStream<Int> { continuation in
      continuation.yield(1)
      continuation.onTermination = { _ in tell.finish() }
    }
    var sleeps = clock.sleeps.makeAsyncIterator()
    var limited = stream.timeLimited(each: .seconds(5), clock: clock).makeAsyncIterator()
    let first = try await limited.next()
    #expect(first == 1)
    let task = Task { () -> HTTPError.Kind? in
      var limited = limited
      do {
        _ = try await limited.next()
        return nil
      } catch {
        return (error as? HTTPError)?.kind
      }
    }
    // The first element's timer may or may not have begun to sleep.
    var slept = 0
    while slept == 0, let duration = await sleeps.next() { if duration == .seconds(5) { slept += 1 } }
    let ticking = ticking(clock)
    #expect(await task.value == .idleTimeout)
    ticking.cancel()
    for await _ in ended {}
  }

  @Test func `the total limit holds over all elements`() async throws {
    let clock = ManualClock()
    let (stream, tell) = AsyncStream<Int>.makeStream()
    var limited = stream.timeLimited(each: .seconds(10), total: .seconds(15), clock: clock)
      .makeAsyncIterator()
    tell.yield(1)
    let first = try await limited.next()
    #expect(first == 1)
    clock.advance(by: .seconds(15))
    let kind: HTTPError.Kind?
    do {
      _ = try await limited.next()
      kind = nil
    } catch {
      kind = error.kind
    }
    #expect(kind == .totalTimeout)
  }

  @Test func `cancelling the reader ends both`() async {
    for attempt in 0..<20 {
      let stream = AsyncStream<Int> { _ in }
      let task = Task { () -> HTTPError? in
        attempt.isMultiple(of: 2)
          ? await collected(stream.throttled(for: .seconds(1))).1
          : await collected(stream.timeLimited(each: .seconds(600))).1
      }
      if attempt > 10 { for _ in 0..<attempt { await Task.yield() } }
      task.cancel()
      #expect(await task.value?.kind == .cancelled)
    }
  }
}
