import Foundation
import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct DescriptorReuseTests {
  @Test func `descriptors that others open and close meanwhile disturb nothing`() async throws {
    let servers = try (0..<10).map { _ in
      try ScriptedServer(script: [
        .expectRequest, .response(fields: [("Connection", "close")], body: "ok"), .close,
      ])
    }
    let isDone = Atomic<Bool>(false)
    let churn = Task.detached {
      var count = 0
      while !isDone.load(ordering: .relaxed) {
        for _ in 0..<50 {
          var pair: [Int32] = [0, 0]
          if pipe(&pair) == 0 {
            close(pair[0])
            close(pair[1])
          }
        }
        count += 1
        await Task.yield()
      }
      return count
    }
    try await TestClient.with({ $0.limits.perHost = 8 }) { client in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<600 {
          let url = servers[index % 10].url
          group.addTask { try await client.expect("ok", from: .get(url)) }
        }
        try await group.waitForAll()
      }
    }
    isDone.store(true, ordering: .relaxed)
    _ = await churn.value
    for server in servers { await server.stop() }
  }
}
