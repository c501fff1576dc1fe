import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct BatchTests {
  /// Counts what a server works on at the same time.
  final class Load: Sendable {
    private let state = Mutex((now: 0, most: 0))
    func begin() {
      state.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
    }
    func end() { state.withLock { $0.now -= 1 } }
    var most: Int { state.withLock { $0.most } }
  }

  final class Counter: Sendable {
    private let state = Mutex(0)
    var count: Int { state.withLock { $0 } }
    func add() { state.withLock { $0 += 1 } }
  }

  private func echo() throws -> ScriptedServer {
    try ScriptedServer(respond: { [.response(body: $0.target)] })
  }

  private func text(_ result: BatchResult<Request, BatchResponse>) throws -> String {
    String(decoding: try result.value.body, as: UTF8.self)
  }

  @Test func `every input has one result with its own index`() async throws {
    let server = try echo()
    try await TestClient.with { client in
      var seen: [Int: String] = [:]
      for try await result in client.batch((0..<300).lazy.map { Request.get(server.url("/\($0)")) }) {
        #expect(seen[result.index] == nil)
        #expect(result.input.url.hasSuffix("/\(result.index)"))
        #expect(result.attempts == 1)
        seen[result.index] = try text(result)
      }
      #expect(seen == Dictionary(uniqueKeysWithValues: (0..<300).map { ($0, "/\($0)") }))
    }
    await server.stop()
  }

  @Test func `results come in the order of the inputs where that is asked for`() async throws {
    let server = try ScriptedServer(respond: { request in
      request.target == "/0" ? [.waitForSignal("go"), .response(body: "0")] : [.response(body: "x")]
    })
    try await TestClient.with { client in
      let batch = client.batch(
        (0..<50).map { Request.get(server.url("/\($0)")) }, limits: .init(total: 4), order: .input(window: 10)
      )
      let first = Task {
        var order: [Int] = []
        for try await result in batch { order.append(result.index) }
        return order
      }
      // Those behind the first are done, and no more than the window are asked for.
      try await server.waitForRequests(10)
      #expect(server.requests.count == 10)
      server.signal("go")
      #expect(try await first.value == Array(0..<50))
    }
    await server.stop()
  }

  @Test func `an endless source is read as there is room`() async throws {
    let server = try echo()
    let read = Counter()
    try await TestClient.with { client in
      var count = 0
      let batch = client.batch(
        sequence(first: 0) { $0 + 1 }.lazy.map { number in
          read.add()
          return Request.get(server.url("/\(number)"))
        }, limits: .init(total: 4, perHost: 4))
      for try await _ in batch {
        count += 1
        if count == 100 { break }
      }
      #expect(read.count < 100 + 20 + 4096)
    }
    await server.stop()
  }

  @Test func `a consumer that is slow stops new starts`() async throws {
    let server = try echo()
    try await TestClient.with { client in
      let batch = client.batch(
        sequence(first: 0) { $0 + 1 }.lazy.map { Request.get(server.url("/\($0)")) }, limits: .init(total: 4))
      var iterator = batch.makeAsyncIterator()
      _ = try await iterator.next()
      // Four results wait, and what ran when they were four has ended.
      while batch.status.running > 0 { await Task.yield() }
      let asked = server.requests.count
      #expect(asked <= 12)
      for _ in 0..<asked - 1 { _ = try await iterator.next() }
      #expect(try await iterator.next() != nil)
    }
    await server.stop()
  }

  @Test func `limits hold as the servers see them`() async throws {
    let all = Load()
    let loads = (0..<3).map { _ in Load() }
    let servers = try loads.map { load in
      try ScriptedServer(respond: { _ in
        [
          .run { _ in
            load.begin()
            all.begin()
          }, .wait(.milliseconds(2)),
          .run { _ in
            load.end()
            all.end()
          }, .response(body: "ok"),
        ]
      })
    }
    try await TestClient.with { client in
      let inputs = (0..<150).map { Request.get(servers[$0 % 3].url("/\($0)")) }
      var count = 0
      for try await result in client.batch(inputs, limits: .init(total: 7, perHost: 3)) {
        #expect(try text(result) == "ok")
        count += 1
      }
      #expect(count == 150)
    }
    for load in loads { #expect(load.most <= 3) }
    #expect(all.most <= 7)
    for server in servers { await server.stop() }
  }

  @Test func `one failure ends nothing`() async throws {
    let server = try ScriptedServer(respond: { request in
      switch request.target {
      case "/reset": [.reset]
      case "/503": [.response(status: 503, body: String(repeating: "x", count: 100_000))]
      default: [.response(body: "ok")]
      }
    })
    try await TestClient.with { client in
      let inputs = (0..<90).map { number in
        Request.get(["/reset", "/503", "/ok"].map { server.url($0) }[number % 3])
      }
      var options = BatchOptions()
      options.requiresSuccess = true
      var kinds: [HTTPError.Kind?: Int] = [:]
      for try await result in client.batch(inputs, options: options) {
        kinds[result.error?.kind, default: 0] += 1
      }
      #expect(kinds[nil] == 30)
      #expect(kinds[.httpStatus] == 30)
      #expect(kinds.values.reduce(0, +) == 90)
    }
    await server.stop()
  }

  @Test func `fail-fast gives every input that was read one result, and reads no more`() async throws {
    let server = try ScriptedServer(respond: { request in
      request.target == "/bad" ? [.waitForSignal("now"), .reset] : [.stall]
    })
    let read = Counter()
    try await TestClient.with { client in
      let batch = client.batch(
        sequence(first: 0) { $0 + 1 }.lazy.map { number in
          read.add()
          return Request.post(server.url(number == 0 ? "/bad" : "/\(number)"))
        }, limits: .init(total: 5), options: .init(failsFast: true))
      let results = Task {
        var results: [BatchResult<Request, BatchResponse>] = []
        for try await result in batch { results.append(result) }
        return results
      }
      try await server.waitForRequests(5)
      server.signal("now")
      let all = try await results.value
      #expect(Set(all.map(\.index)) == Set(0..<read.count))
      #expect(all.count == read.count)
      #expect(all.count { $0.error?.kind != .cancelled } == 1)
      #expect(all.count <= 10)
    }
    await server.stop()
  }

  @Test func `a drain waits for what runs and cancels what hasn't begun`() async throws {
    let server = try ScriptedServer(respond: { _ in [.waitForSignal("go"), .response(body: "ok")] })
    try await TestClient.with { client in
      let batch = client.batch(
        (0..<10).map { Request.get(server.url("/\($0)")) }, limits: .init(total: 4, perHost: 2))
      let results = Task {
        var results: [BatchResult<Request, BatchResponse>] = []
        for try await result in batch { results.append(result) }
        return results
      }
      try await server.waitForRequests(2)
      while batch.status.read < 10 { await Task.yield() }
      batch.drain()
      server.open("go")
      let all = try await results.value
      #expect(all.map(\.index).sorted() == Array(0..<10))
      #expect(all.count { $0.error == nil } == 2)
      #expect(all.count { $0.error?.kind == .cancelled } == 8)
      #expect(server.requests.count == 2)
    }
    await server.stop()
  }

  @Test func `leaving the loop cancels what runs`() async throws {
    let server = try ScriptedServer(respond: { request in
      request.target == "/0" ? [.response(fields: [("Connection", "close")], body: "ok"), .close] : [.stall]
    })
    try await TestClient.with { client in
      for try await _ in client.batch((0..<5).map { Request.get(server.url("/\($0)")) }) { break }
      try await server.waitForAllClosed()
    }
    await server.stop()
  }

  @Test func `cancelling the consumer's task ends the batch`() async throws {
    let server = try ScriptedServer(respond: { _ in [.stall] })
    try await TestClient.with { client in
      let task = Task {
        for try await _ in client.batch([Request.get(server.url("/"))]) {}
      }
      try await server.waitForRequests(1)
      task.cancel()
      let error = await #expect(throws: HTTPError.self) { try await task.value }
      #expect(error == .cancelled)
      try await server.waitForAllClosed()
    }
    await server.stop()
  }

  @Test func `a transform reads the body as it comes, and its failure is its input's`() async throws {
    struct Odd: Error {}
    let server = try echo()
    try await TestClient.with { client in
      let batch = client.batch(
        0..<20, limits: .init(total: 3), request: { .get(server.url("/\($0)")) },
        transform: { number, response in
          if number % 2 == 1 { throw Odd() }
          var count = 0
          for try await chunk in response.body { count += chunk.count }
          return count
        })
      var sum = 0
      var failed = 0
      for try await result in batch {
        switch result.result {
        case .success(let count): sum += count
        case .failure(let error):
          failed += 1
          #expect(error.kind == .transformFailed)
          #expect(result.input % 2 == 1)
        }
      }
      #expect(failed == 10)
      #expect(sum == 5 * 2 + 5 * 3)
    }
    await server.stop()
  }

  @Test func `what can't be a request is the result of its input`() async throws {
    let server = try echo()
    try await TestClient.with { client in
      let inputs = ["good", "bad", "worse"]
      let batch = client.batch(
        inputs,
        request: { input in
          if input == "bad" { throw HTTPError(.invalidURL, phase: .queue, message: "bad") }
          return .get(input == "worse" ? "no url at all" : server.url("/"))
        }, transform: { _, response in response.status.code })
      var kinds: [String: HTTPError.Kind] = [:]
      for try await result in batch { kinds[result.input] = result.error?.kind }
      #expect(kinds == ["bad": .invalidURL, "worse": .invalidURL])
    }
    await server.stop()
  }

  @Test func `a source that fails fails the batch, after the results of what was read`() async throws {
    struct Broken: Error {}
    let server = try echo()
    try await TestClient.with { client in
      let source = AsyncThrowingStream<Request, any Error> { continuation in
        for number in 0..<3 { continuation.yield(.get(server.url("/\(number)"))) }
        continuation.finish(throwing: Broken())
      }
      var count = 0
      let error = await #expect(throws: HTTPError.self) {
        for try await _ in client.batch(source) { count += 1 }
      }
      #expect(error?.kind == .readFailed)
      #expect(count == 3)
    }
    await server.stop()
  }

  @Test func `a second iteration and a wrong limit send nothing`() async throws {
    let server = try echo()
    try await TestClient.with { client in
      let batch = client.batch([Request.get(server.url("/"))])
      for try await _ in batch {}
      let second = await #expect(throws: HTTPError.self) { for try await _ in batch {} }
      #expect(second?.kind == .alreadyConsumed)
      let wrong = await #expect(throws: HTTPError.self) {
        for try await _ in client.batch([Request.get(server.url("/"))], limits: .init(total: 0)) {}
      }
      #expect(wrong?.kind == .invalidConfiguration)
      #expect(wrong?.message.contains("limits.total") == true)
      #expect(server.requests.count == 1)
    }
    await server.stop()
  }

  @Test func `no inputs are no results`() async throws {
    try await TestClient.with { client in
      for try await _ in client.batch([Request]()) { Issue.record("a result of nothing") }
    }
  }

  @Test func `a client that can't be is the result of every input`() async throws {
    try await TestClient.with({ $0.loops = 0 }) { client in
      var kinds: [HTTPError.Kind?] = []
      for try await result in client.batch((0..<3).map { Request.get("http://localhost/\($0)") }) {
        kinds.append(result.error?.kind)
      }
      #expect(kinds == [.invalidConfiguration, .invalidConfiguration, .invalidConfiguration])
    }
  }

  @Test func `it works the same on the loop and off it`() async throws {
    let server = try echo()
    for (loops, onLoop) in [(1, true), (1, false), (2, false), (2, true)] {
      try await TestClient.with({ $0.loops = loops }) { client in
        var options = BatchOptions()
        options.staysOnLoop = onLoop
        var count = 0
        for try await result in client.batch(
          (0..<40).map { Request.get(server.url("/\($0)")) }, options: options)
        {
          #expect(try text(result) == "/\(result.index)")
          count += 1
        }
        #expect(count == 40)
      }
    }
    await server.stop()
  }

  @Test func `a shutdown fails what is left instead of hanging`() async throws {
    let server = try ScriptedServer(respond: { _ in [.stall] })
    try await TestClient.with { client in
      let task = Task {
        var kinds: [HTTPError.Kind?] = []
        for try await result in client.batch(
          (0..<3).map { Request.get(server.url("/\($0)")) }, limits: .init(total: 1))
        {
          kinds.append(result.error?.kind)
        }
        return kinds
      }
      try await server.waitForRequests(1)
      await client.shutdown(.immediate)
      #expect(try await task.value == [.shutdown, .shutdown, .shutdown])
    }
    await server.stop()
  }

  @Test func `a shutdown fails what waits for its next attempt or for its host`() async throws {
    let server = try ScriptedServer(script: .response(status: 503, fields: [("Retry-After", "60")]))
    try await TestClient.with { client in
      var options = BatchOptions()
      options.retry = RetryPolicy(limit: 1)
      let inputs = (0..<3).map { Request.get(server.url("/\($0)")) }
      let batch = client.batch(inputs, limits: .init(total: 1), options: options)
      let task = Task {
        var kinds: [HTTPError.Kind?] = []
        for try await result in batch { kinds.append(result.error?.kind) }
        return kinds
      }
      try await server.waitForRequests(1)
      #expect(await eventually { batch.status.running == 0 && batch.status.queued == 3 })
      await client.shutdown(.immediate)
      let kinds = try await task.value
      #expect(kinds == [.shutdown, .shutdown, .shutdown])
    }
    await server.stop()
  }
}
