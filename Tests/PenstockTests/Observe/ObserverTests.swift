@testable import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import Testing

struct ObserverTests {
  /// Writes down what it is told.
  private final class Diary: ExchangeObserver {
    let lines = Mutex<[String]>([])
    let metrics = Mutex<[ExchangeMetrics]>([])
    let exchanges = Mutex<[ObservedExchange]>([])

    func started(_ exchange: ObservedExchange) {
      exchanges.withLock { $0.append(exchange) }
      lines.withLock { $0.append("started") }
    }

    func happened(_ event: TransferEvent, in exchange: ObservedExchange) {
      let word: String
      switch event {
      case .informational: word = "informational"
      case .redirect: word = "redirect"
      case .retry: word = "retry"
      case .uploadProgress: word = "upload"
      case .head: word = "head"
      case .body: word = "body"
      case .progress: word = "progress"
      case .trailers: word = "trailers"
      case .completed: word = "completed"
      }
      lines.withLock { $0.append(word) }
    }

    func ended(_ exchange: ObservedExchange, _ metrics: ExchangeMetrics) {
      self.metrics.withLock { $0.append(metrics) }
      lines.withLock { $0.append("ended") }
    }

    var all: [String] { lines.withLock { $0 } }
    /// Without what depends on how fast things go.
    var steady: [String] {
      var steady: [String] = []
      for word in all where word != "upload" && !(word == "progress" && steady.last == "progress") {
        steady.append(word)
      }
      return steady
    }
  }

  private func client(_ diary: Diary, _ answer: MockAnswer, more: [MockAnswer] = []) -> API {
    let api = API("https://h.test") { $0.observers = [diary] }
    api.mock.on(.any, [answer] + more)
    return api
  }

  @Test func `a call is told from its start to its end, in order`() async throws {
    let diary = Diary()
    let answer = MockAnswer.steps([
      .informational(ResponseHead(status: 103)), .head(200), .bytes([1, 2]), .trailers(["T": "1"]),
    ])
    let api = client(diary, answer)
    #expect(diary.all.isEmpty)
    #expect(try await api.client.path("x").bytes() == [1, 2])
    #expect(diary.steady == ["started", "informational", "head", "progress", "trailers", "ended"])
    let metrics = try #require(diary.metrics.withLock { $0.first })
    #expect(metrics.status == 200 && metrics.received == 2 && metrics.decoded == 2 && metrics.error == nil)
    #expect(metrics.timeToHead.map { $0 <= metrics.duration } == true)
  }

  @Test func `events tell the same`() async throws {
    let diary = Diary()
    let api = client(diary, .steps([.head(200), .bytes([1, 2])]))
    let events = api.client.events(.get("/x"))
    #expect(diary.all.isEmpty)
    for try await _ in events {}
    #expect(diary.steady == ["started", "head", "progress", "ended"])
    #expect(diary.metrics.withLock { $0.first?.received } == 2)
  }

  @Test func `redirects are counted`() async throws {
    let diary = Diary()
    let api = client(diary, .status(302, headers: ["Location": "/y"]), more: [.text("y")])
    _ = try await api.client.path("x").string()
    #expect(diary.steady == ["started", "redirect", "head", "progress", "ended"])
    #expect(diary.metrics.withLock { $0.first?.redirects } == 1)
  }

  @Test func `failures before the head and in the body end a call once`() async {
    for answer in [MockAnswer.failure(.connectFailed), .steps([.head(200), .bytes([1]), .fail(.truncated)])] {
      let diary = Diary()
      let api = client(diary, answer)
      let error = await failure { try await api.client.path("x").bytes() }
      #expect(diary.all.filter { $0 == "ended" }.count == 1)
      #expect(diary.metrics.withLock { $0.first?.error?.kind } == error?.kind)
    }
  }

  @Test func `a response that is dropped has left`() async throws {
    let diary = Diary()
    let api = client(diary, .stream([[1], [2]]))
    do { _ = try await api.client.send(.get("/x")) }
    #expect(diary.steady == ["started", "head", "ended"])
    guard case .left? = diary.metrics.withLock({ $0.first?.outcome }) else {
      Issue.record("not left")
      return
    }
  }

  @Test func `what never got a URL isn't told`() async {
    let diary = Diary()
    let api = client(diary, .status(200))
    _ = await failure { try await api.client.path("..").send() }
    #expect(diary.all.isEmpty)
  }

  @Test func `a request has observers of its own beside the client's`() async throws {
    let (mine, own) = (Diary(), Diary())
    let api = client(mine, .status(204), more: [.status(204)])
    try await api.client.path("x").observed(by: own).send()
    try await api.client.path("x").send()
    #expect(mine.all.filter { $0 == "ended" }.count == 2 && own.all.filter { $0 == "ended" }.count == 1)
    let ids = mine.exchanges.withLock { $0.map(\.id) }
    #expect(Set(ids).count == 2)
  }

  @Test func `a call tells its own progress, and no other's`() async throws {
    let sent = Mutex<[Int64]>([])
    let received = Mutex<[Int64]>([])
    let api = API("https://h.test")
    api.mock.on(.any, .text("12345"))
    let call = api.client.path("x").onUploadProgress { progress in sent.withLock { $0.append(progress.sent) }
    }
    .onProgress { progress in received.withLock { $0.append(progress.received) } }
    _ = try await api.client.path("x").post("other").string()
    #expect(try await call.post("body").string() == "12345")
    #expect(sent.withLock { $0.last } == 4 && received.withLock { $0.last } == 5)
    #expect(received.withLock { $0.allSatisfy { $0 <= 5 } })
  }

  @Test func `no secret is told`() async throws {
    let diary = Diary()
    let api = client(diary, .status(204))
    var request = Request.get(
      "/x?token=hush&a=1", headers: ["Authorization": "hush", "X-Key": "hush", "X-Open": "o"])
    request.secretHeaders = ["x-key"]
    _ = try await api.client.send(request)
    let exchange = try #require(diary.exchanges.withLock { $0.first })
    #expect(!"\(exchange)".contains("hush"))
    #expect(exchange.headers.contains { $0.name == "X-Open" && $0.value == "o" })
  }

  @Test func `a log line for the start, one for the end, secrets cut`() async throws {
    let entries = Mutex<[ExchangeLogger.Entry]>([])
    let logger = ExchangeLogger(.headers, redacting: ["X-Mine"]) { entry in
      entries.withLock { $0.append(entry) }
    }
    let api = API("https://h.test") { $0.observers = [logger] }
    api.mock.on(
      .any,
      .text(
        "ok", status: 404, headers: ["Set-Cookie": "s=hush", "X-Mine": "hush", "Location": "/z?token=hush"]))
    _ = try await api.client.path("x").query("api_key", "hush").header("Cookie", "hush").put("body").raw()
    let all = entries.withLock { $0 }
    #expect(all.map(\.level) == [.debug, .debug, .warning])
    #expect(all[0].message.hasPrefix("--> PUT https://h.test/x?api_key=… (4 bytes)\n"))
    #expect(all[1].message.hasPrefix("<-- 404"))
    #expect(all[2].message.hasPrefix("<-- 404 PUT https://h.test/x?api_key=… ("))
    #expect(!all.contains { $0.message.contains("hush") } && Set(all.map(\.id)).count == 1)
  }

  @Test func `a log has levels`() async {
    for (detail, expected) in [(ExchangeLogger.Detail.off, 0), (.failures, 2), (.basic, 6), (.headers, 8)] {
      let count = Mutex(0)
      let logger = ExchangeLogger(detail) { _ in count.withLock { $0 += 1 } }
      let api = API("https://h.test") { $0.observers = [logger] }
      api.mock.on(.any, [.status(200), .status(500), .failure(.connectFailed)])
      for _ in 0..<3 { _ = await failure { try await api.client.path("x").raw() } }
      #expect(count.withLock { $0 } == expected)
    }
  }

  @Test func `metrics count calls by their ends`() async {
    let metrics = MetricsObserver()
    let api = API("https://h.test") { $0.observers = [metrics] }
    api.mock.on(.any, [.text("abc"), .status(503), .failure(.connectFailed), .stream([[1]])])
    for _ in 0..<3 { _ = await failure { try await api.client.path("x").raw() } }
    _ = await failure { try await api.client.send(.get("/x")) }
    let counts = metrics.snapshot
    #expect(counts.started == 4 && counts.completed == 2 && counts.left == 1 && counts.running == 0)
    #expect(counts.failed == [.connectFailed: 1] && counts.statuses[2] == 2 && counts.statuses[5] == 1)
    #expect(counts.received == 3 && counts.durations.reduce(0, +) == 4)
  }
}
