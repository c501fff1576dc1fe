import Penstock

/// One file of `penstock download`: starts it, tells what happens, and waits for its end.
struct DownloadJob: Sendable {
  let key: Int
  let url: String
  let settings: Settings
  let client: Client
  let data: [UInt8]
  let output: QueuedOutput
  let display: ProgressDisplay?

  func run() async -> ExitStatus {
    let request = RequestBuilder.request(settings, url: url, data: data)
    trace?.request(request, client)
    display?.start(key, name: name)
    // A cancelled download is observed to its end too: what it leaves on the disk is settled then.
    let download = client.download(request, to: target, options)
    let observer = Task { await observe(download) }
    return await withTaskCancellationHandler {
      await observer.value
    } onCancel: {
      download.cancel()
    }
  }

  private func observe(_ download: Download) async -> ExitStatus {
    for await event in download.events {
      // That nobody reads the lines is met where the run ends.
      do throws(OutputError) { try await print(event) } catch {}
      switch event {
      case .started(let start):
        display?.rename(key, TransferName.of(file: start.file), total: start.total)
      case .progress(let progress): display?.progress(key, progress)
      case .finished(let file):
        tellHead(file.head)
        display?.end(key, bytes: file.bytes)
        display?.say(Self.line(file))
        return .success
      case .restarted(let reason): display?.say("\(name): begins again (\(reason.rawValue))")
      case .retry(let retry):
        if settings.isVerbose {
          tell("\(name): tried again in \(ProgressFormat.duration(retry.delay)): \(retry.reason)")
        }
      case .failed(let error): return end(error)
      }
    }
    return .someFailed
  }

  private func end(_ error: HTTPError) -> ExitStatus {
    display?.end(key, bytes: nil)
    return Failure.http(error).status(settings, telling: tell)
  }

  private func tell(_ message: String) {
    if let display { display.say("penstock: " + message) } else { StandardError.tell(message) }
  }

  /// What `-v` and `-i` show of the answer; standard output belongs to the lines for programs.
  private func tellHead(_ head: ResponseHead) {
    if let trace { return trace.head(head) }
    guard settings.includesHead else { return }
    for line in String(decoding: HeadText.wire(head), as: UTF8.self).split(separator: "\r\n") {
      if let display {
        display.say(String(line))
      } else {
        StandardError.say(String(line))
      }
    }
  }

  private var trace: Trace? {
    guard settings.isVerbose else { return nil }
    guard let display else { return Trace() }
    return Trace(say: { display.say($0) })
  }

  /// What stays on the screen of a file.
  static func line(_ file: DownloadedFile) -> String {
    let name = TextColumns.printable(TransferName.of(file: file.path))
    if file.isUnchanged { return name + "  unchanged" }
    var facts = "\(ProgressFormat.bytes(file.bytes))  in \(ProgressFormat.duration(file.duration))"
    if file.resumedAt > 0 { facts += ", continued at \(ProgressFormat.bytes(file.resumedAt))" }
    if file.isChecksumVerified { facts += ", checksum verified" }
    let line = name + "  " + facts
    return file.isEndVerified ? line : line + "  (the server didn't say how much it would be)"
  }

  // MARK: what to do

  private var name: String {
    if case .file(let path) = target { return TransferName.of(file: path) }
    return TransferName.of(url: url)
  }

  private var target: DownloadTarget {
    let directory = settings.directory
    guard case .file(let path) = settings.output else { return .directory(directory ?? ".") }
    guard let directory, !path.hasPrefix("/") else { return .file(path) }
    return .file(directory.hasSuffix("/") ? directory + path : directory + "/" + path)
  }

  private var options: DownloadOptions {
    let wanted = settings.download
    var options = DownloadOptions(
      overwrite: settings.overwrite ?? .never, segments: wanted.segments ?? .count(1),
      checksum: wanted.checksum,
      digest: settings.progress == .json ? .sha256 : nil)
    switch wanted.continues {
    case true: options.resume = .always
    case false: options.resume = .never
    case nil: options.resume = .ifUnchanged
    }
    // Who names a number means it for smaller files, too.
    if case .count(let count) = options.segments, count > 1 { options.minimumSegment = .kibibytes(64) }
    options.keepsPartWhenCancelled = wanted.continues != false
    options.mirrors = wanted.mirrors
    options.retry = settings.retryPolicy ?? .none
    options.keepsRemoteTime = wanted.keepsRemoteTime
    options.decodesContent = settings.decodesContent
    options.maximumSize = settings.maximumBody.map { .bytes($0) }
    options.rateLimit = settings.http.rateLimit.map { .bytesPerSecond($0) }
    return options
  }

  // MARK: lines for programs

  private func print(_ event: DownloadEvent) async throws(OutputError) {
    guard settings.progress == .json else { return }
    var line: JSONLine
    switch event {
    case .started(let start):
      line = JSONLine(event: "started")
      line.string("url", shownURL)
      line.string("file", shown(start.file))
      line.integer("total", start.total)
      line.integer("resumed_at", start.resumedAt)
      line.integer("segments", start.segments)
    case .progress(let progress):
      line = begin("progress")
      line.integer("received", progress.received)
      line.integer("total", progress.total)
      line.double("rate", progress.rate)
      line.seconds("eta", progress.eta)
    case .restarted(let reason):
      line = begin("restarted")
      line.string("reason", reason.rawValue)
    case .retry(let retry):
      line = begin("retry")
      line.integer("attempt", retry.attempt)
      line.seconds("delay", retry.delay)
      line.string("reason", retry.reason.message)
    case .finished(let file):
      line = begin("finished")
      line.string("file", shown(file.path))
      line.integer("bytes", file.bytes)
      line.string("sha256", file.digest?.hex)
      line.seconds("duration", file.duration)
    case .failed(let error):
      line = begin("failed")
      let code = Failure.http(error).code
      line.failure(error, code: code, phase: error.phase, received: error.received, status: error.status)
    }
    try await output.write(line.finish())
  }

  /// A line that tells which URL it is about, where there are several.
  private func begin(_ event: String) -> JSONLine {
    var line = JSONLine(event: event)
    if settings.urls.count > 1 { line.string("url", shownURL) }
    return line
  }

  /// As it was given, so that programs tell it from others, but for user and password.
  private var shownURL: String { Redaction.userInfo(url) }

  /// The folder that nobody named isn't shown.
  private func shown(_ path: String) -> String {
    settings.directory == nil && path.hasPrefix("./") ? String(path.dropFirst(2)) : path
  }
}
