import Glibc
import PenstockTestSupport
import PenstockTesting
import StreamCore
import Synchronization
import TestSupport
import Testing

@testable import Penstock

/// A disk that is slower than the network.
@Suite struct SlowDiskTests {
  private final class Beats: Sendable {
    let count = Atomic(0)
    /// A write ended and nothing had come of the other stream meanwhile.
    let hasGap = Atomic(false)
    var hadGap: Bool { hasGap.load(ordering: .sequentiallyConsistent) }
    var now: Int { count.load(ordering: .sequentiallyConsistent) }
  }

  /// Takes 5 MB a second, and longer where the other stream stands still for the time of a write.
  private static func disk(_ facts: TestDisk, _ beats: Beats) -> FileCalls {
    var calls = facts.calls
    let write = calls.write
    calls.write = { descriptor, vectors, offset in
      let before = beats.now
      let bytes = vectors.reduce(0) { $0 + $1.iov_len }
      usleep(UInt32(bytes / 5))
      for _ in 0..<20_000 where beats.now < before + 2 { usleep(1000) }
      if beats.now < before + 2 { beats.hasGap.store(true, ordering: .sequentiallyConsistent) }
      return write(descriptor, vectors, offset)
    }
    return calls
  }

  @Test func `a disk of 5 MB a second holds the socket back with flat memory and no gap for other streams`()
    async throws
  {
    let folder = try TestFolder()
    let size: Int64 = 18 << 20
    let server = try ChunkServer()
    let (facts, beats) = (TestDisk(), Beats())
    try await TestClient.with { client in
      let beating = Task {
        for try await _ in try await client.send(.get(server.url("/slow/100m?rate=2000000"))).body {
          beats.count.add(1, ordering: .sequentiallyConsistent)
        }
      }
      #expect(await eventually { beats.now > 0 })
      let download = client.download(
        .get(server.url("/bytes/\(size)")), to: .file(folder("f")), .with { _ in },
        calls: Self.disk(facts, beats))
      var most: Int64 = 0
      for await event in download.events {
        guard case .progress(let progress) = event else { continue }
        most = max(most, progress.received - facts.now.written + Int64(client.gauges.bufferedBytes))
      }
      let end = try await download.value
      #expect(end.bytes == size)
      // What waits for the reader and for the disk, whatever the size.
      #expect(most > 1 << 20 && most <= 5 << 20)
      #expect(!beats.hadGap)
      beating.cancel()
    }
    let bytes = try #require(folder.read("f"))
    #expect(ContentCheck.matches(bytes))
    await server.stop()
  }
}
