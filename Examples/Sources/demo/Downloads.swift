import Foundation
import Penstock
import PenstockTesting

/// Files: a large one with the bar, and two failing ones that leave nothing behind.
enum Downloads {
  nonisolated static func run(_ client: Client, _ server: ChunkServer) async throws {
    let folder = NSTemporaryDirectory() + "penstock-demo-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }

    try await large(client, server.url("/bytes/1g"), folder)
    try FileManager.default.removeItem(atPath: folder + "/1g")
    await failing(client, server, folder)
  }

  /// 1 GiB to a file; the file gets its name when it is whole and synced.
  nonisolated static func large(_ client: Client, _ url: String, _ folder: String) async throws {
    print("\n4. downloading 1 GiB to a file")
    var bar = Bar()
    let download = client.download(.get(url), to: .directory(folder))
    for await event in download.events {
      switch event {
      case .started(let start): print("   to \(start.file)")
      case .progress(let progress): bar.draw(progress)
      case .restarted(let reason): print("   begins anew: \(reason.rawValue)")
      case .retry(let retry): print("   goes on in \(retry.delay): \(retry.reason)")
      case .finished, .failed: bar.end()
      }
    }
    let file = try await download.value
    let seconds = file.duration / .seconds(1)
    print(
      "   \(file.bytes) bytes in \(Bar.rounded(seconds)) s: "
        + "\(Bar.rounded(Double(file.bytes) / seconds / 1e9)) GB/s, synced to the disk\n")
  }

  /// A refused one and a cut one.
  nonisolated static func failing(_ client: Client, _ server: ChunkServer, _ folder: String) async {
    print("5. downloads that fail")
    for path in ["/status/404", "/truncate/64m"] {
      do throws(HTTPError) {
        _ = try await client.download(.get(server.url(path)), to: .directory(folder)).value
      } catch {
        print("   \(error)")
      }
    }
    let left = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let files = left.filter { !$0.hasSuffix(".part") && !$0.hasSuffix(".part.json") }
    let parts = left.count - files.count
    print("   under a final name: \(files.isEmpty ? "nothing" : files.joined(separator: ", "))")
    print("   kept for a later run: \(parts == 0 ? "nothing" : "the part of what came, and its record")")
  }
}
