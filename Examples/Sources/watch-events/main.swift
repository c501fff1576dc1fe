// Shows every event of one exchange: watch-events URL
import Penstock

let url = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080/"
do {
  for try await event in Client.shared.events(.get(url)) {
    switch event {
    case .informational(let head): print("informational", head.status)
    case .redirect(let hop): print("redirect", hop.status, hop.to)
    case .retry(let retry): print("retry", retry.number, retry.reason)
    case .uploadProgress(let progress): print("upload", progress.sent)
    case .head(let head): print("head", head.status, head.url)
    case .body(let chunk): print("body", chunk.count)
    case .progress(let progress):
      print("progress", progress.received, progress.fraction ?? "of unknown length")
    case .trailers(let fields): print("trailers", fields.count)
    case .completed(let summary): print("completed", summary.received, "bytes in", summary.duration)
    }
  }
} catch {
  print("failed: \(error)")
}
