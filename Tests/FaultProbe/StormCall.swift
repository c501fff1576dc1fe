import Penstock
import StreamCore
import TestSupport

/// One call of a storm: of some kind, left at some point.
struct StormCall: Sendable {
  let client: Client
  let request: Request
  let kind: Int
  /// After so many steps its task cancels itself, in front of the next wait; nil: never.
  let leavesAt: Int?
  /// Where downloads go.
  let folder: String

  static let kinds = 12

  private struct Value: Decodable, Sendable {
    let a: Int?
  }

  func run() async throws {
    var steps = 0
    func step() {
      if steps == leavesAt { withUnsafeCurrentTask { $0?.cancel() } }
      steps += 1
    }
    step()
    switch kind {
    case 0: _ = try await client.send(request).body.collect(upTo: .kibibytes(64))
    case 1:
      for try await _ in client.events(request) { step() }
    case 2:
      for try await line in try await client.send(request).body.lines where !line.isEmpty { step() }
    case 3:
      for try await _ in try await client.send(request).body.jsonLines(of: Value.self) { step() }
    case 4:
      for try await _ in try await client.send(request).body.serverSentEvents { step() }
    case 5:
      // A slow reader: its slowness itself.
      for try await _ in try await client.send(request).body {
        step()
        try await Task.sleep(for: .milliseconds(1))
      }
    case 6:
      // Leaves after the first chunk.
      for try await _ in try await client.send(request).body { break }
    case 7: _ = try await client.send(request)
    case 8:
      let response = try await client.send(request)
      step()
      response.cancel()
      _ = try await response.body.drain()
    case 9:
      try await client.onLoop {
        for _ in 0..<4 { _ = try await client.send(request).body.drain() }
      }
    case 10:
      let download = client.download(request, to: .directory(folder))
      for await _ in download.events { step() }
      _ = try await download.value
    default:
      let requests = Array(repeating: request, count: 6)
      for try await _ in client.batch(requests) { step() }
    }
  }
}
