import Penstock

/// Prints the body of a response in some way.
protocol BodyPrinter: Sendable {
  mutating func print(_ chunk: BodyChunk) async throws(Failure)
  /// The body is complete.
  mutating func finish() async throws(Failure)
}

/// What the verbs that print bodies share: one URL after another, limits, traces, progress, the exit status.
struct PrintingRun: Sendable {
  let settings: Settings
  let client: Client
  let data: [UInt8]
  let output: QueuedOutput
  var display: ProgressDisplay?

  /// The status of the last failure, or success.
  func run(_ perform: (Request, Int) async throws(Failure) -> Void) async -> ExitStatus {
    var status = ExitStatus.success
    for (key, url) in settings.urls.enumerated() {
      do throws(Failure) {
        display?.start(key, name: TransferName.of(url: url))
        defer { display?.end(key, bytes: 0) }
        try await perform(RequestBuilder.request(settings, url: url, data: data), key)
      } catch {
        let error = output.failure.map { .output($0) } ?? error
        status = error.status(settings, telling: tell)
        // Nothing more can be written, or nothing more is wanted.
        if case .output = error { break }
        if Interrupts.received != nil { break }
      }
    }
    do throws(OutputError) {
      try await output.finish()
    } catch {
      if status != .writeFailed { status = Failure.output(error).status(settings, telling: tell) }
    }
    await display?.finish()
    return status
  }

  private func tell(_ message: String) {
    if let display { display.say("penstock: " + message) } else { StandardError.tell(message) }
  }

  var trace: Trace? {
    guard settings.isVerbose else { return nil }
    guard let display else { return Trace() }
    return Trace(say: { display.say($0) })
  }

  /// One exchange, its body through a printer; several where nothing had been printed of one that was lost.
  func fetch(_ request: Request, _ key: Int, into printer: some BodyPrinter) async throws(Failure) {
    var request = request
    var again = LostBodyRetry(settings)
    while true {
      var hasPrinted = false
      do throws(Failure) {
        return try await attempt(request, key, printer, &hasPrinted)
      } catch {
        guard !hasPrinted, let delay = again?.delay(after: error, of: request) else { throw error }
        if case .http(let reason) = error { trace?.waiting(delay, reason) }
        do { try await Task.sleep(for: delay) } catch { throw .http(.cancelled) }
        again?.limit(&request, client)
      }
    }
  }

  private func attempt(
    _ request: Request, _ key: Int, _ printer: some BodyPrinter, _ hasPrinted: inout Bool
  ) async throws(Failure) {
    var printer = printer
    // What errors name: the request that was answered.
    var request = request
    let trace = trace
    trace?.request(request, client)
    var events = client.events(request).makeAsyncIterator()
    var count: Int64 = 0
    var received: Int64 = 0
    var status: HTTPStatus?
    while true {
      let event: TransferEvent?
      do throws(HTTPError) {
        event = try await events.next()
      } catch {
        throw .http(error)
      }
      switch event {
      case .body(let chunk):
        count += Int64(chunk.count)
        if let limit = settings.maximumBody, count > limit, let status {
          throw .tooLarge(limit, request, status: status, received: max(count, received))
        }
        hasPrinted = true
        do throws(Failure) { try await printer.print(chunk) } catch { throw error.about(request) }
      case .progress(let progress):
        received = progress.received
        display?.progress(key, progress)
      case .redirect(let hop):
        request.follow(hop)
        trace?.redirect(hop)
      case .retry(let retry): trace?.retry(retry)
      case .head(let head):
        status = head.status
        trace?.head(head.head, head.facts)
        hasPrinted = try await begin(head, request)
      case .trailers(let fields): trace?.trailers(fields)
      case .informational, .uploadProgress, .completed: break
      case nil:
        do throws(Failure) { try await printer.finish() } catch { throw error.about(request) }
        return
      }
    }
  }

  /// Whether the head was printed.
  private func begin(_ head: FinalHead, _ request: Request) async throws(Failure) -> Bool {
    if settings.failsOnStatus, !head.status.isSuccess {
      throw .refused(head.status, head.head.reason, request)
    }
    if let limit = settings.maximumBody, let length = settings.bodyLength(head), length > limit {
      throw .tooLarge(limit, request, status: head.status, received: 0)
    }
    guard settings.includesHead || settings.headOnly else { return false }
    do throws(OutputError) { try await output.write(HeadText.wire(head.head)) } catch { throw .output(error) }
    return true
  }
}
