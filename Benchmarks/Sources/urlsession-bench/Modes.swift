import BenchReport
import Foundation
import FoundationNetworking

struct UnexpectedAnswer: Error {
  let status: Int?
}

/// URLSession as its users write it: a delegate for large bodies, `data(from:)` for small ones.
struct Modes: Sendable {
  let url: URL

  func large(count: Int) async throws {
    let counter = ByteCounter()
    let session = URLSession(configuration: configuration(parallel: 1), delegate: counter, delegateQueue: nil)
    bench_begin()
    for _ in 0..<count {
      try await counter.run(session.dataTask(with: url))
    }
    bench_end()
    bench_print("large", Int64(count), Int64(counter.bytes))
  }

  func fetches(mode: String, requests: Int, parallel: Int, warmUp: Int) async throws {
    let session = URLSession(configuration: configuration(parallel: parallel))
    _ = try await fetch(session, requests: warmUp, parallel: parallel)
    bench_begin()
    let bytes = try await fetch(session, requests: requests, parallel: parallel)
    bench_end()
    bench_print(mode, Int64(requests), Int64(bytes))
  }

  private func fetch(_ session: URLSession, requests: Int, parallel: Int) async throws -> Int {
    try await withThrowingTaskGroup(of: Int.self) { group in
      for worker in 0..<parallel {
        let share = requests / parallel + (worker < requests % parallel ? 1 : 0)
        group.addTask {
          var bytes = 0
          for _ in 0..<share {
            let (data, response) = try await session.data(from: url)
            let status = (response as? HTTPURLResponse)?.statusCode
            guard status == 200 else { throw UnexpectedAnswer(status: status) }
            bytes += data.count
          }
          return bytes
        }
      }
      return try await group.reduce(0, +)
    }
  }

  private func configuration(parallel: Int) -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = parallel
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    return configuration
  }
}
