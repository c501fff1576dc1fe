import Penstock
import Synchronization

/// `penstock sse`: server-sent events as one JSON object a line, over as many connections as it takes.
struct SSEVerb {
  let settings: Settings
  let client: Client
  let data: [UInt8]
  let output: QueuedOutput

  func run() async -> ExitStatus {
    let run = PrintingRun(settings: settings, client: client, data: data, output: output)
    return await run.run { (request, _) throws(Failure) in
      let heads = Heads()
      run.trace?.request(request, client)
      var request = request
      // Without reconnections `--retry` is about the one connection.
      if !settings.reconnects { request.retry = settings.retryPolicy }
      var events = client.eventSource(request, options(heads)).makeAsyncIterator()
      while true {
        let event: ServerSentEvent?
        do throws(HTTPError) {
          event = try await events.next()
        } catch {
          try await write(heads)
          throw .http(error)
        }
        try await write(heads)
        guard let event else { return }
        try await write(event)
      }
    }
  }

  /// The heads that were not printed yet.
  private final class Heads: Sendable {
    let waiting = Mutex<[ResponseHead]>([])
  }

  private func options(_ heads: Heads) -> EventSourceOptions {
    var options = EventSourceOptions()
    options.reconnects = settings.reconnects
    if let limit = settings.maximumLine { options.eventLimit = .bytes(limit) }
    if let limit = settings.maximumBody { options.bodyLimit = .bytes(limit) }
    if let retries = settings.retries {
      options.maximumAttempts = retries
      options.retriesFirstConnection = retries > 0
      if retries > 0 { options.retriedStatuses = [408, 425, 429, 500, 502, 503, 504] }
    }
    if let delay = settings.retryMaximumDelay { options.maximumDelay = delay }
    let isVerbose = settings.isVerbose
    let includesHead = settings.includesHead
    options.onChange = { change in
      switch change {
      case .open(let head, _):
        if isVerbose { Trace().head(head) }
        if includesHead { heads.waiting.withLock { $0.append(head) } }
      case .waiting(let delay, let error):
        if isVerbose { Trace().waiting(delay, error) }
      case .connecting: break
      }
    }
    return options
  }

  private func write(_ heads: Heads) async throws(Failure) {
    let waiting = heads.waiting.withLock { heads in
      let waiting = heads
      heads = []
      return waiting
    }
    for head in waiting {
      do throws(OutputError) { try await output.write(HeadText.wire(head)) } catch { throw .output(error) }
    }
  }

  private func write(_ event: ServerSentEvent) async throws(Failure) {
    var line = JSONLine(event: "sse")
    line.string("type", event.type)
    line.string("data", event.data)
    line.string("id", event.id)
    line.integer("retry", event.retry)
    do throws(OutputError) { try await output.write(line.finish()) } catch { throw .output(error) }
  }
}
