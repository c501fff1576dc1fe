import Penstock

/// `penstock events`: every event of one exchange as one JSON object a line, written as it happens.
struct EventsVerb {
  let settings: Settings
  let client: Client
  let data: [UInt8]
  let output: QueuedOutput

  func run() async -> ExitStatus {
    guard let url = settings.urls.first else { return .usage }
    var printer = EventPrinter(settings: settings, output: output)
    do throws(Failure) {
      let request = RequestBuilder.request(settings, url: url, data: data)
      try await drain(request, &printer)
      do throws(OutputError) { try await output.finish() } catch { throw .output(error) }
      return .success
    } catch {
      return await end(output.failure.map { .output($0) } ?? error, printer)
    }
  }

  private func drain(_ request: Request, _ printer: inout EventPrinter) async throws(Failure) {
    // What errors name: the request that was answered.
    var request = request
    let trace = settings.isVerbose ? Trace() : nil
    trace?.request(request, client)
    var events = client.events(request).makeAsyncIterator()
    while true {
      let event: TransferEvent?
      do throws(HTTPError) {
        event = try await events.next()
      } catch {
        throw .http(error)
      }
      guard let event else { return }
      if case .redirect(let hop) = event { request.follow(hop) }
      trace?.event(event)
      do throws(OutputError) {
        try await printer.print(event)
      } catch {
        throw .output(error)
      }
      try check(event, request, printer)
    }
  }

  private func check(_ event: TransferEvent, _ request: Request, _ printer: EventPrinter) throws(Failure) {
    switch event {
    case .head(let head) where settings.failsOnStatus && !head.status.isSuccess:
      throw .refused(head.status, head.head.reason, request)
    case .head(let head):
      if let limit = settings.maximumBody, let length = settings.bodyLength(head), length > limit {
        throw .tooLarge(limit, request, status: head.status, received: 0)
      }
    case .body:
      guard let limit = settings.maximumBody, printer.decoded > limit, let status = printer.status else {
        return
      }
      throw .tooLarge(limit, request, status: status, received: printer.received)
    default: break
    }
  }

  /// Ends the output with `failed`, which says the same as the exit status.
  private func end(_ failure: Failure, _ printer: EventPrinter) async -> ExitStatus {
    let status = failure.status(settings)
    guard case .http(let error) = failure else { return status }
    do throws(OutputError) {
      try await printer.failed(error, code: status.code)
      try await output.finish()
    } catch {
      return error.exitStatus(telling: StandardError.tell)
    }
    return status
  }
}
