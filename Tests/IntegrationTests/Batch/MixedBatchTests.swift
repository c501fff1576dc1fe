import Penstock
import PenstockTesting
import StreamCore
import Testing

/// Batches whose servers do all that servers do.
@Suite(.timeLimit(.minutes(1))) struct MixedBatchTests {
  @Test func `among refusing, hanging and large answers limits hold and every input has one result`()
    async throws
  {
    let load = BatchTests.Load()
    let large = String(repeating: "x", count: 1 << 20)
    let server = try ScriptedServer(respond: { request in
      if request.target == "/hangs" { return [.stall] }
      let number = Int(request.target.dropFirst()) ?? 0
      let answer: Step = number % 3 == 0 ? .response(status: 503, body: large) : .response(body: "ok")
      return [.run { _ in load.begin() }, .wait(.milliseconds(1)), .run { _ in load.end() }, answer]
    })
    let closed = try RefusingPort()
    var inputs = (0..<198).map { Request.get(server.url("/\($0)")) }
    inputs.insert(.get(closed.url), at: 50)
    var hanging = Request.get(server.url("/hangs"))
    hanging.timeouts = TimeLimits()
    hanging.timeouts?.total = .seconds(1)
    inputs.insert(hanging, at: 20)
    var seen: [Int: Int] = [:]
    var kinds: [HTTPError.Kind: Int] = [:]
    try await TestClient.with { client in
      var options = BatchOptions()
      options.requiresSuccess = true
      let batch = client.batch(inputs, limits: .init(total: 10, perHost: 6), options: options)
      for try await result in batch {
        seen[result.index, default: 0] += 1
        if let error = result.error { kinds[error.kind, default: 0] += 1 }
        #expect(batch.status.running <= 10)
      }
    }
    #expect(seen.count == 200 && seen.values.allSatisfy { $0 == 1 })
    #expect(kinds == [.httpStatus: 66, .connectFailed: 1, .totalTimeout: 1])
    // The hanging one has a place too, and isn't counted by the server.
    #expect(load.most <= 6)
    withExtendedLifetime(closed) {}
    await server.stop()
  }
}
