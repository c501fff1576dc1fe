import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct BatchPoliteTests {
  private typealias Results = [BatchResult<Request, BatchResponse>]

  private func all(_ batch: Batch<Request, BatchResponse>) async throws -> Results {
    var results: Results = []
    for try await result in batch { results.append(result) }
    return results
  }

  // MARK: joining

  @Test func `identical requests are fetched once, and each has its result`() async throws {
    let server = try ScriptedServer(respond: { request in
      [.waitForSignal("go"), .response(body: request.target)]
    })
    server.open("go")
    try await TestClient.with { client in
      var options = BatchOptions()
      options.joinsIdentical = true
      let urls = (0..<60).map { server.url("/\($0 % 3)") }
      for total in [1, 8] {
        let before = server.requests.count
        let results = try await all(
          client.batch(urls.map { .get($0) }, limits: .init(total: total), options: options))
        #expect(results.map(\.index).sorted() == Array(0..<60))
        for result in results { #expect(try result.value.body == Array("/\(result.index % 3)".utf8)) }
        #expect(results.count { $0.isJoined } == 57)
        #expect(server.requests.count - before == 3)
      }
    }
    await server.stop()
  }

  @Test func `those that joined a failure fail with it, early and late`() async throws {
    let server = try ScriptedServer(respond: { _ in [.waitForSignal("go"), .reset] })
    try await TestClient.with { client in
      var options = BatchOptions()
      options.joinsIdentical = true
      for total in [1, 3] {
        let before = server.requests.count
        let batch = client.batch(
          (0..<4).map { _ in Request.post(server.url("/")) }, limits: .init(total: total), options: options)
        let results = Task { try await all(batch) }
        server.open("go")
        let found = try await results.value
        #expect(found.count == 4)
        #expect(found.allSatisfy { $0.error != nil })
        #expect(server.requests.count - before == 1)
      }
    }
    await server.stop()
  }

  // MARK: validators

  @Test func `what has not changed is answered with 304 and no body`() async throws {
    let server = try ScriptedServer(respond: { request in
      if request.target == "/tag", request.value(of: "If-None-Match") == "\"v1\"" {
        return [.response(status: 304, fields: [("ETag", "\"v1\"")])]
      }
      if request.target == "/date", request.value(of: "If-Modified-Since") == "Sun, 06 Nov 1994 08:49:37 GMT"
      {
        return [.response(status: 304)]
      }
      return [
        .response(
          fields: request.target == "/tag"
            ? [("ETag", "\"v1\"")] : [("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")], body: "whole")
      ]
    })
    let validators = MemoryValidators()
    try await TestClient.with { client in
      var options = BatchOptions()
      options.validators = validators
      options.requiresSuccess = true
      let requests = ["/tag", "/date"].map { Request.get(server.url($0)) }
      let first = try await all(client.batch(requests, options: options))
      for result in first {
        #expect(try result.value.body == Array("whole".utf8))
        #expect(try !result.value.isNotModified)
      }
      let second = try await all(client.batch(requests, options: options))
      #expect(second.count == 2)
      for result in second {
        #expect(try result.value.isNotModified)
        #expect(try result.value.body == [])
      }
      // A 304 that nobody asked for is a failure, where success is wanted.
      options.validators = nil
      let bare = Request.get(server.url("/tag"), headers: ["If-None-Match": "\"v1\""])
      #expect(try await all(client.batch([bare], options: options)).first?.error?.kind == .httpStatus)
    }
    await server.stop()
  }

  // MARK: holding back

  @Test func `Retry-After holds back its host and no other`() async throws {
    let count = Atomic<Int>(0)
    let busy = try ScriptedServer(respond: { _ in
      count.wrappingAdd(1, ordering: .relaxed)
      return [.response(status: 503, fields: [("Retry-After", "60")])]
    })
    let free = try ScriptedServer(respond: { _ in [.response(body: "ok")] })
    try await TestClient.with { client in
      let inputs = (0..<40).map { Request.get(($0 % 2 == 0 ? busy : free).url("/\($0)")) }
      let batch = client.batch(inputs, limits: .init(total: 4, perHost: 1))
      var iterator = batch.makeAsyncIterator()
      var fine = 0
      while fine < 20 {
        if try await iterator.next()?.value.status == 200 { fine += 1 }
      }
      #expect(count.load(ordering: .relaxed) == 1)
      // The rest waits for its host, and ends when it is told to.
      batch.stop()
      var rest = 0
      while let result = try await iterator.next() { if result.error?.kind == .cancelled { rest += 1 } }
      #expect(rest == 19)
    }
    await busy.stop()
    await free.stop()
  }

  @Test func `a rate spreads the requests of a host`() async throws {
    let server = try ScriptedServer(respond: { _ in [.response(body: "ok")] })
    try await TestClient.with { client in
      let begin = ContinuousClock.now
      let limits = BatchLimits(total: 8, perHost: 8, ratePerHost: .perSecond(100))
      let results = try await all(client.batch((0..<11).map { .get(server.url("/\($0)")) }, limits: limits))
      #expect(results.count == 11)
      // Not a measure of speed: ten pauses of 10 ms can't be shorter.
      #expect(ContinuousClock.now - begin >= .milliseconds(99))
    }
    await server.stop()
  }

  // MARK: robots

  @Test func `robots txt is asked once a host and heeded`() async throws {
    let server = try ScriptedServer(respond: { request in
      request.target == "/robots.txt"
        ? [.response(body: "User-agent: tester\nDisallow: /private\n")] : [.response(body: "ok")]
    })
    let open = try ScriptedServer(respond: { request in
      [.response(status: request.target == "/robots.txt" ? 404 : 200, body: "ok")]
    })
    let broken = try ScriptedServer(respond: { request in
      [.response(status: request.target == "/robots.txt" ? 500 : 200, body: "ok")]
    })
    try await TestClient.with { client in
      var options = BatchOptions()
      options.robots = RobotsPolicy(agent: "Tester")
      let paths = ["/a", "/private/b", "/c", "/private"]
      let inputs = [server, open, broken].flatMap { host in paths.map { Request.get(host.url($0)) } }
      let results = try await all(client.batch(inputs, options: options))
      let forbidden = results.filter { $0.error?.kind == .robotsDisallowed }.map(\.index).sorted()
      #expect(forbidden == [1, 3, 8, 9, 10, 11])
      #expect(results.count { $0.error == nil } == 6)
      // A second batch with the same policy remembers.
      _ = try await all(client.batch([.get(server.url("/a"))], options: options))
      for host in [server, open, broken] {
        #expect(host.requests.count { $0.target == "/robots.txt" } == 1)
      }
      #expect(!server.requests.contains { $0.target.hasPrefix("/private") })
    }
    for host in [server, open, broken] { await host.stop() }
  }

  // MARK: files

  @Test func `many files are downloaded whole or not at all`() async throws {
    let folder = try TemporaryDirectory()
    let server = try ScriptedServer(respond: { request in
      request.target == "/3" ? [.response(status: 404)] : [.response(body: "content of \(request.target)")]
    })
    try await TestClient.with { client in
      let batch = client.batchDownload(
        (0..<6).map { Request.get(server.url("/\($0)")) },
        to: { .file(folder.path + "/file" + ($0.url.split(separator: "/").last ?? "")) },
        limits: .init(total: 3))
      var files: [Int: Int64] = [:]
      var errors: [Int: HTTPError.Kind] = [:]
      for try await result in batch {
        switch result.result {
        case .success(let file): files[result.index] = file.bytes
        case .failure(let error): errors[result.index] = error.kind
        }
      }
      #expect(files.count == 5)
      #expect(files.values.allSatisfy { $0 == 13 })
      #expect(errors == [3: .httpStatus])
    }
    await server.stop()
  }
}
