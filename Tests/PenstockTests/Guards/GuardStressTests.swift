import StreamCore
import Synchronization
import TestSupport
import Testing

@testable import Penstock

/// Many calls at once that come, end and are cancelled as chance wants it: whatever the interleaving, nothing is
/// lost, doubled or left behind.
@Suite(.timeLimit(.minutes(2))) struct GuardStressTests {
  private static func run(
    _ client: Client, _ count: Int, _ generator: inout SeededGenerator,
    url: @escaping @Sendable (Int) -> String
  ) async -> [Result<String, HTTPError>] {
    let cancelled = Set((0..<count).filter { _ in generator.next(below: 3) == 0 })
    return await withTaskGroup(of: Result<String, HTTPError>.self) { group in
      for number in 0..<count {
        group.addTask {
          let call = Task { try await client.text(.get(url(number))) }
          if cancelled.contains(number) {
            await Task.yield()
            call.cancel()
          }
          do {
            return .success(try await call.value)
          } catch {
            return .failure(error as? HTTPError ?? .cancelled)
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  private static func check(_ results: [Result<String, HTTPError>], _ text: String) {
    for result in results {
      switch result {
      case .success(let received): #expect(received == text)
      case .failure(let error): #expect(error.kind == .cancelled)
      }
    }
  }

  @Test func `shared calls`() async {
    let text = String(repeating: "0123456789", count: 50)
    let transport = FakeTransport { _, _ in .response(200, [], text) }
    for seed in 0..<40 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let sharing = Sharing(
        replay: seed % 3 == 0 ? .seconds(1) : nil, bodyLimit: seed % 2 == 0 ? .bytes(10) : .mebibytes(1))
      let client = Client.fake(transport, TestClock()) { $0.middlewares = [sharing] }
      let results = await Self.run(client, 50, &generator) { "http://a/\($0 % 3)" }
      Self.check(results, text)
      #expect(await reached { sharing.count <= (seed % 3 == 0 ? 3 : 0) })
    }
  }

  @Test func `places among the running`() async {
    let transport = FakeTransport { _, _ in .response(200, [], "x") }
    for seed in 0..<40 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let limit = ConcurrencyLimit(Int(seed % 4) + 1, by: .client)
      let client = Client.fake(transport, TestClock()) { $0.middlewares = [limit] }
      let results = await Self.run(client, 60, &generator) { "http://h\($0)/" }
      Self.check(results, "x")
      #expect(await reached { limit.counts == (0, 0) })
    }
  }

  @Test func `all stages together`() async {
    let transport = FakeTransport { _, number in
      switch number % 5 {
      case 0: .response(503, [("Retry-After", "1")])
      case 1: .failure(.connectionLost)
      case 2: .response(302, [("Location", "/moved")])
      default: .response(200, [], "fine")
      }
    }
    for seed in 0..<20 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let limit = ConcurrencyLimit(4)
      var hedging = Hedging.Settings()
      hedging.initialDelay = .zero
      let settings = hedging
      let client = Client.fake(transport, TestClock()) {
        $0.retryBudget = nil
        $0.retry = RetryPolicy(limit: 1000)
        $0.middlewares = [
          .sharing(), RateLimit(perSecond: 1000, burst: 10), limit, Hedging(settings),
          .collectingBody(upTo: .kibibytes(1)),
        ]
      }
      let results = await Self.run(client, 40, &generator) { "http://a/\($0 % 7)" }
      for case .failure(let error) in results {
        // So many redirects in a row are a failure of their own.
        #expect(error.kind == .cancelled || error.kind == .tooManyRedirects)
      }
      for case .success(let text) in results { #expect(text == "fine") }
      #expect(await reached { limit.counts == (0, 0) })
    }
  }
}
