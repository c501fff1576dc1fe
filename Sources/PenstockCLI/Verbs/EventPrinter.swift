import Penstock

/// Writes events as JSON lines, and keeps what the last line needs.
struct EventPrinter {
  private let settings: Settings
  private let output: QueuedOutput
  private let digest = RunningDigest()
  private var text = IncrementalText()
  private(set) var status: HTTPStatus?
  private(set) var decoded: Int64 = 0
  private(set) var received: Int64 = 0

  init(settings: Settings, output: QueuedOutput) {
    self.settings = settings
    self.output = output
  }

  mutating func print(_ event: TransferEvent) async throws(OutputError) {
    switch event {
    case .informational(let head):
      var line = JSONLine(event: "informational")
      line.integer("status", head.status.code)
      line.pairs("headers", head.headers.map { ($0.name, $0.value) })
      try await output.write(line.finish())
    case .redirect(let hop):
      var line = JSONLine(event: "redirect")
      line.integer("status", hop.status.code)
      line.string("from", hop.from)
      line.string("to", hop.to)
      line.string("method", hop.method.rawValue)
      try await output.write(line.finish())
    case .retry(let retry):
      var line = JSONLine(event: "retry")
      line.integer("attempt", retry.number)
      line.seconds("delay", retry.delay)
      line.string("reason", retry.reason)
      try await output.write(line.finish())
    case .uploadProgress(let progress):
      var line = JSONLine(event: "upload")
      line.integer("sent", progress.sent)
      line.integer("total", progress.total)
      try await output.write(line.finish())
    case .head(let head): try await print(head)
    case .body(let chunk): try await print(chunk)
    case .progress(let progress): try await print(progress)
    case .trailers(let fields):
      var line = JSONLine(event: "trailers")
      line.pairs("headers", fields.map { ($0.name, $0.value) })
      try await output.write(line.finish())
    case .completed(let summary): try await print(summary)
    }
  }

  private mutating func print(_ head: FinalHead) async throws(OutputError) {
    status = head.status
    var line = JSONLine(event: "head")
    line.integer("status", head.status.code)
    line.string("reason", head.head.reason)
    line.string("version", head.version.rawValue)
    line.string("url", head.url)
    line.pairs("headers", head.headers.map { ($0.name, $0.value) })
    try await output.write(line.finish())
  }

  private mutating func print(_ chunk: BodyChunk) async throws(OutputError) {
    decoded += Int64(chunk.count)
    digest.update(chunk)
    if settings.bodyDisplay == Settings.BodyDisplay.none { return }
    var line = JSONLine(event: "body")
    line.integer("bytes", chunk.count)
    switch settings.bodyDisplay {
    case .base64: chunk.withSpan { line.base64("data", $0) }
    case .text: line.string("text", text.append(chunk))
    case .some(.none), nil: break
    }
    try await output.write(line.finish())
  }

  private mutating func print(_ progress: TransferProgress) async throws(OutputError) {
    received = progress.received
    var line = JSONLine(event: "progress")
    line.integer("received", progress.received)
    line.integer("total", progress.total)
    line.integer("decoded", progress.decoded)
    line.double("rate", progress.rate)
    line.seconds("eta", progress.eta)
    try await output.write(line.finish())
  }

  private mutating func print(_ summary: TransferSummary) async throws(OutputError) {
    let rest = text.finish()
    if !rest.isEmpty {
      var line = JSONLine(event: "body")
      line.integer("bytes", 0)
      line.string("text", rest)
      try await output.write(line.finish())
    }
    var line = JSONLine(event: "completed")
    line.integer("received", summary.received)
    line.integer("decoded", summary.decoded)
    line.seconds("duration", summary.duration)
    line.string("sha256", digest.finish())
    let timings = summary.facts.timings
    line.object("timings") { line in
      line.seconds("queued", timings.queued)
      // Numbers in every case, as in curl: a step that was not made took no time.
      line.seconds("dns", timings.dns ?? .zero)
      line.seconds("connect", timings.connect ?? .zero)
      line.seconds("tls", timings.tls ?? .zero)
      line.seconds("first_byte", timings.firstByte ?? .zero)
      line.seconds("total", timings.total)
    }
    let connection = summary.facts.connection
    line.object("connection") { line in
      line.bool("reused", connection.reused)
      line.string("remote", connection.remote)
      line.string("local", connection.local)
    }
    try await output.write(line.finish())
  }

  func failed(_ error: HTTPError, code: Int32) async throws(OutputError) {
    var line = JSONLine(event: "failed")
    line.failure(
      error, code: code, phase: phase(error), received: max(received, error.received),
      status: error.status ?? status)
    try await output.write(line.finish())
  }

  /// A cancelled task doesn't know how far the exchange was.
  private func phase(_ error: HTTPError) -> HTTPError.Phase {
    if error.kind == .cancelled, status != nil { return .body }
    return error.phase
  }
}

/// The SHA-256 of what has come; nil where it can't be had.
final class RunningDigest {
  private var hasher: DigestHasher?

  init() { hasher = try? DigestHasher(.sha256) }

  func update(_ chunk: BodyChunk) { try? hasher?.update(chunk) }

  func finish() -> String? { try? hasher.take()?.finalize().hex }
}
