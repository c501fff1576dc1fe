import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct RetryTests {
  /// Retries without waiting.
  private static func policy(_ limit: Int = 3, _ edit: (inout RetryPolicy) -> Void = { _ in }) -> RetryPolicy
  {
    var policy = RetryPolicy(limit: limit)
    policy.maximumDelay = .zero
    edit(&policy)
    return policy
  }

  /// Each script answers one connection; the last one repeats.
  private static let lost: Script = [.expectRequest, .reset]
  private static let fine: Script = [.expectRequest, .response(body: "fine")]

  @Test func `connections that are lost before the head are tried again`() async throws {
    for script in [Self.lost, [.expectRequest, .closeAtOnce], [.closeAtOnce]] as [Script] {
      let server = try ScriptedServer(scripts: [script, script, Self.fine])
      try await TestClient.with({ $0.retry = Self.policy() }) { client in
        let response = try await client.send(.get(server.url("/")))
        #expect(response.status == 200 && response.attempts.count == 2)
        #expect(response.attempts.allSatisfy { $0.kind != nil && $0.status == nil })
        let body = try await response.body.collect(upTo: .kibibytes(1))
        #expect(body == Array("fine".utf8))
      }
      await server.stop()
    }
  }

  @Test func `after a byte of the body nothing is tried again`() async throws {
    let server = try ScriptedServer(scripts: [
      [.expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na"), .reset],
      [.expectRequest, .response(body: "abc")],
    ])
    try await TestClient.with({ $0.retry = Self.policy() }) { client in
      var bytes: [UInt8] = []
      let error = await failure {
        for try await event in client.events(.get(server.url("/"))) {
          if case .body(let chunk) = event { bytes += chunk }
          if case .retry = event { Issue.record("retried") }
        }
      }
      #expect(error != nil && bytes == Array("a".utf8) && server.requests.count == 1)
    }
    await server.stop()
  }

  @Test func `a POST whose connection was lost is sent once, and the error says so`() async throws {
    let server = try ScriptedServer(scripts: [Self.lost, Self.fine])
    try await TestClient.with({ $0.retry = Self.policy() }) { client in
      let error = await failure {
        try await client.send(.post(server.url("/"), body: .string("x")))
      }
      #expect(error?.mayHaveBeenProcessed == true && server.requests.count == 1)
      #expect(error?.attempts.isEmpty == true)
    }
    await server.stop()
  }

  @Test func `an opted-in POST is sent again with its body and key`() async throws {
    let server = try ScriptedServer(scripts: [Self.lost, Self.lost, Self.fine])
    try await TestClient.with({ $0.retry = Self.policy { $0.methods = .all } }) { client in
      try await client.expect("fine", from: .post(server.url("/"), body: .string("content")))
    }
    let requests = server.requests
    #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["content", "content", "content"])
    let keys = Set(requests.map { $0.value(of: "Idempotency-Key") })
    #expect(keys.count == 1 && keys.first != .some(nil))
    await server.stop()
  }

  @Test func `a file is sent anew from its beginning`() async throws {
    let folder = try TestFolder()
    let text = String(repeating: "0123456789", count: 20_000)
    folder.write(text, to: "file")
    let server = try ScriptedServer { request in
      request.connection == 0 ? [.response(status: 503), .close] : [.response(body: "stored")]
    }
    try await TestClient.with({ $0.retry = Self.policy() }) { client in
      try await client.expect("stored", from: .put(server.url("/"), body: .file(folder("file"))))
    }
    #expect(server.requests.map(\.body.count) == [200_000, 200_000])
    await server.stop()
  }

  @Test func `a status is tried again on the kept connection`() async throws {
    let count = Mutex(0)
    let server = try ScriptedServer { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return [
        .response(
          status: number < 3 ? 503 : 200, fields: number < 3 ? [("Retry-After", "0")] : [], body: "\(number)")
      ]
    }
    try await TestClient.with({ $0.retry = Self.policy() }) { client in
      var retries: [RetryAttempt] = []
      var text = ""
      for try await event in client.events(.get(server.url("/"))) {
        if case .retry(let retry) = event { retries.append(retry) }
        if case .body(let chunk) = event { text += String(decoding: chunk, as: UTF8.self) }
      }
      #expect(text == "3" && retries.map(\.number) == [2, 3])
      #expect(retries.map(\.failed.status) == [503, 503] && server.connectionCount == 1)
    }
    await server.stop()
  }

  @Test func `a port that nobody listens on fails with the attempts listed`() async throws {
    let nobody = try RefusingPort()
    try await TestClient.with({ $0.retry = Self.policy(2) }) { client in
      let error = await failure { try await client.send(.post(nobody.url, body: .string("x"))) }
      // It was never sent, so a POST may be tried again.
      #expect(error?.kind == .connectFailed && error?.mayHaveBeenProcessed == false)
      #expect(error?.attempts.map(\.kind) == [.connectFailed, .connectFailed])
    }
  }

  @Test func `a server that doesn't answer is asked again, within the total limit`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    try await TestClient.with({
      $0.retry = Self.policy(1)
      $0.timeouts.firstByte = .milliseconds(100)
    }) { client in
      let error = await failure { try await client.send(.get(server.url("/"))) }
      #expect(error?.kind == .firstByteTimeout && error?.attempts.map(\.kind) == [.firstByteTimeout])
      var request = Request.get(server.url("/"))
      request.retry = Self.policy(1000)
      request.timeouts = TimeLimits()
      request.timeouts?.firstByte = .milliseconds(100)
      request.timeouts?.total = .milliseconds(350)
      let limited = request
      let last = await failure { try await client.send(limited) }
      #expect(last?.kind == .totalTimeout || last?.kind == .firstByteTimeout)
      #expect((last?.attempts.count ?? 0) < 10)
    }
    await server.stop()
  }

  @Test func `a deadline of the task ends a call`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    try await TestClient.with { client in
      let error = await failure {
        try await Deadline.with(.milliseconds(100)) { try await client.send(.get(server.url("/"))) }
      }
      #expect(error?.kind == .totalTimeout)
    }
    await server.stop()
  }

  @Test func `interim heads and upload progress come through middlewares`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
      .response(fields: [("X-End", "1")], body: "hello"),
    ])
    for scope in [MiddlewareScope.call, .attempt] {
      try await TestClient.with({
        $0.middlewares = [.processing(scope: scope) { $0.headers["X-Trace"] = "7" }]
      }) { client in
        var names: [String] = []
        for try await event in client.events(.post(server.url("/"), body: .string("abc"))) {
          switch event {
          case .uploadProgress(let progress): names.append("upload \(progress.sent)")
          case .informational(let head): names.append("informational \(head.status)")
          case .head(let head): names.append("head \(head.status)")
          case .body(let chunk): names.append("body \(chunk.count)")
          case .completed(let summary): names.append("completed \(summary.received)")
          case .progress, .redirect, .retry, .trailers: break
          }
        }
        #expect(names == ["upload 3", "informational 103", "head 200", "body 5", "completed 5"])
        #expect(server.requests.last?.value(of: "X-Trace") == "7")
        #expect(await eventually { client.isIdle })
      }
    }
    await server.stop()
  }

  @Test func `guards leave nothing behind when calls are cancelled`() async throws {
    let server = try ScriptedServer(script: [.expectRequest, .stall])
    let limit = ConcurrencyLimit(2)
    try await TestClient.with({
      $0.middlewares = [.sharing(), limit, Hedging()]
      $0.retry = Self.policy()
    }) { client in
      let calls = (0..<8).map { number in
        Task { try await client.send(.get(server.url("/\(number % 4)"))) }
      }
      try await server.waitForRequests(2)
      for call in calls { call.cancel() }
      for call in calls {
        let error = await failure { try await call.value }
        #expect(error?.kind == .cancelled)
      }
      #expect(await eventually { client.isIdle && limit.counts == (0, 0) })
    }
    await server.stop()
  }

  @Test func `a request meets three dying kept connections at most, then it fails`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest, .waitForSignal("all"), .response(body: "ok"), .expectHead, .closeAtOnce,
    ])
    try await TestClient.with({ $0.loops = 1 }) { client in
      let calls = (0..<8).map { number in Task { try await client.text(.get(server.url("/\(number)"))) } }
      try await server.waitForHeads(8)
      server.open("all")
      for call in calls {
        let text = try await call.value
        #expect(text == "ok")
      }
      let error = await failure { try await client.send(.get(server.url("/next"))) }
      #expect(error?.kind == .connectionLost && error?.mayHaveBeenProcessed == true)
      #expect(server.requests.count { $0.target == "/next" } == 4)
      // The policy goes on where the engine stops: the rest of the dying connections, then new ones.
      var request = Request.get(server.url("/again"))
      request.retry = Self.policy()
      try await client.expect("ok", from: request)
      #expect(server.requests.count { $0.target == "/again" } <= 5)
    }
    await server.stop()
  }
}
