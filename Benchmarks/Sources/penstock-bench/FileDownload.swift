import BenchReport
import Penstock

/// Large bodies to a file, one after another, each replacing the last.
struct FileDownload: Sendable {
  let options: Options

  @concurrent func run() async throws {
    guard let path = options.to else { throw UnexpectedAnswer(what: "no --to PATH") }
    let client = options.client(parallel: 1)
    var bytes = 0
    bench_begin()
    for _ in 0..<options.count {
      let download = client.download(
        .get(options.url), to: .file(path), DownloadOptions(overwrite: .replace))
      bytes += Int(try await download.value.bytes)
    }
    bench_end()
    bench_print(options.mode, Int64(options.count), Int64(bytes))
    await client.shutdown()
  }
}
