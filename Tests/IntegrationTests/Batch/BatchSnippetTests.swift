import Penstock
import PenstockTesting
import Testing

/// What the README says of batches.
@Suite(.timeLimit(.minutes(1))) struct BatchSnippetTests {
  @Test func `the README's batches run`() async throws {
    let server = try ScriptedServer(respond: { request in
      request.target == "/robots.txt" ? [.response(status: 404)] : [.response(body: "hello")]
    })
    let urls = (0..<8).map { server.url("/\($0 / 2)") }
    try await TestClient.with { client in
      var count = 0
      for try await result in client.batch(
        urls.lazy.map { .get($0) }, limits: .init(total: 256, perHost: 16))
      {
        switch result.result {
        case .success(let response): count += response.body.count
        case .failure(let error): Issue.record(error)
        }
      }
      #expect(count == 40)

      var options = BatchOptions()
      options.retry = RetryPolicy()
      options.joinsIdentical = true
      options.robots = RobotsPolicy(agent: "MyCrawler")
      var limits = BatchLimits(total: 128, perHost: 4, ratePerHost: .perSecond(2000))
      limits.adaptation = BatchAdaptation()
      let batch = client.batch(
        urls, limits: limits, order: .input, options: options, request: { .get($0) },
        transform: { url, response in
          var count = 0
          for try await chunk in response.body { count += chunk.count }
          return count
        })
      var sum = 0
      for try await result in batch { sum += try result.value }
      #expect(sum == 40)
    }
    // Eight without joining, four with it, and robots.txt.
    #expect(server.requests.count == 13)
    await server.stop()
  }
}
