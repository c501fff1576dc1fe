import BenchOptions
import BenchReport
import Glibc
import Penstock

/// Large bodies to a new file each, one after another; with the memory that this takes.
struct FileDownload: Sendable {
  let options: Options

  @concurrent func run() async throws {
    guard let path = options.to else { throw UnexpectedAnswer(what: "no --to PATH") }
    let client = options.client(parallel: options.segments)
    var wanted = DownloadOptions(
      overwrite: .replace, segments: .count(options.segments), digest: options.isHashed ? .sha256 : nil)
    if options.segments > 1 { wanted.minimumSegment = .mebibytes(1) }
    // The loop, its thread and libcurl are there before the measurement starts; no file is replaced in it.
    try await client.onLoop {}
    unlink(path)
    let idle = bench_resident_kib()
    var bytes = 0
    bench_begin()
    for _ in 0..<options.count {
      let download = client.download(.get(options.url), to: .file(path), wanted)
      bytes += Int(try await download.value.bytes)
    }
    bench_end()
    bench_note("kib_above_idle", Double(bench_peak_resident_kib() - idle))
    bench_print(options.mode, Int64(options.count), Int64(bytes))
    await client.shutdown()
  }
}
