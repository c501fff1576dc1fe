// Downloads a URL to a file, with its progress; run again after Ctrl-C it goes on where it was: download-file URL [FILE]
import Penstock

func download(_ url: String, to place: DownloadTarget) async throws -> DownloadedFile {
  var options = DownloadOptions()
  // Several ranges at once where the file is large enough and the server can do it.
  options.segments = .automatic
  let download = Client.shared.download(.get(url), to: place, options)
  for await event in download.events {
    switch event {
    case .started(let start): print("to \(start.file), from byte \(start.resumedAt)")
    case .progress(let progress):
      let percent = progress.fraction.map { "\(Int($0 * 100)) %" } ?? "\(progress.received) bytes"
      print("\(percent), \(Int(progress.rate / 1e6)) MB/s")
    case .retry(let retry): print("goes on in \(retry.delay): \(retry.reason)")
    case .restarted(let reason): print("begins anew: \(reason.rawValue)")
    case .finished, .failed: break
    }
  }
  return try await download.value
}

let arguments = CommandLine.arguments.dropFirst()
if let url = arguments.first {
  do {
    let file = try await download(
      url, to: arguments.count > 1 ? .file(arguments.dropFirst().first ?? "") : .directory("."))
    print("\(file.bytes) bytes in \(file.duration): \(file.path)")
  } catch {
    print("failed: \(error)")
  }
} else {
  print("usage: download-file URL [FILE]")
}
