import Penstock

/// `penstock lines`: the body split into lines, or checked as NDJSON and printed compactly.
struct LinesVerb {
  let settings: Settings
  let client: Client
  let data: [UInt8]
  let output: QueuedOutput

  func run() async -> ExitStatus {
    let run = PrintingRun(settings: settings, client: client, data: data, output: output)
    let limit = settings.maximumLine.map { ByteCount.bytes($0) } ?? .mebibytes(16)
    return await run.run { (request, key) throws(Failure) in
      if settings.readsJSONLines {
        let framer = CompactJSONLineFramer(limit: limit)
        try await run.fetch(request, key, into: LinePrinter(framer, output: output))
      } else {
        let framer = LineFramer(limit: limit)
        try await run.fetch(request, key, into: LinePrinter(framer, output: output))
      }
    }
  }
}

/// Each element of a framer on a line of its own; those of a chunk are written together.
struct LinePrinter<Framer: ByteFramer<BodyChunk>>: BodyPrinter {
  private var framer: Framer
  private let output: QueuedOutput

  init(_ framer: Framer, output: QueuedOutput) {
    self.framer = framer
    self.output = output
  }

  mutating func print(_ chunk: BodyChunk) async throws(Failure) {
    var lines: [BodyChunk] = []
    var failure: HTTPError?
    do throws(HTTPError) { try framer.feed(chunk, into: &lines) } catch { failure = error }
    try await write(lines, failure)
  }

  mutating func finish() async throws(Failure) {
    var lines: [BodyChunk] = []
    var failure: HTTPError?
    do throws(HTTPError) { try framer.finish(into: &lines) } catch { failure = error }
    try await write(lines, failure)
  }

  /// What came before a failure is printed.
  private func write(_ lines: [BodyChunk], _ failure: HTTPError?) async throws(Failure) {
    if !lines.isEmpty {
      var text: [UInt8] = []
      text.reserveCapacity(lines.reduce(0) { $0 + $1.count + 1 })
      for line in lines {
        line.withUnsafeBytes { text.append(contentsOf: $0) }
        text.append(0x0A)
      }
      do throws(OutputError) { try await output.write(text) } catch { throw .output(error) }
    }
    if let failure { throw .http(failure) }
  }
}
