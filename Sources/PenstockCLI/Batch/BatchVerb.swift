import Glibc
import Penstock
import PenstockBatchState
import Synchronization

/// `penstock batch`: many requests, one JSON object for each, and a summary.
struct BatchVerb: Sendable {
  typealias Run = Batch<BatchInput, BatchRecord>

  private let settings: Settings
  private let client: Client
  private let output: QueuedOutput
  private let state: BatchState?
  private let facts: BatchInputReader.Facts
  private let run: Run
  private let begin = ContinuousClock.now

  /// Opens everything that the run needs, before any request.
  init(
    settings: Settings, client: Client, data: [UInt8], output: QueuedOutput
  ) async throws(CommandFailure) {
    self.settings = settings
    self.client = client
    self.output = output
    var reader = try BatchInputReader(settings)
    let folder = try settings.directory.map { name throws(CommandFailure) in try BatchFolder(name) }
    if let report = settings.batch.report { try Self.checkWritable(report) }
    state = try await Self.state(settings.batch.state)
    reader.state = state
    facts = reader.facts
    let fetch = BatchFetch(
      keepsBody: settings.bodyDisplay == .text || settings.bodyDisplay == .base64,
      maximumBody: settings.maximumBody, folder: folder, trace: settings.isVerbose && !settings.isSilent)
    let names = folder != nil
    let template = RequestBuilder.request(settings, url: "", data: data, isTemplate: true)
    let makeURL = Self.urlMaker(settings, data)
    run = client.batch(
      reader, limits: Self.limits(settings), order: settings.batch.order == .input ? .input : .completion,
      options: Self.options(settings),
      joinKey: { input, _ in input.exchangeKey(names: names) },
      isFailure: { $0.error != nil }, bytes: { Int64($0.body?.count ?? 0) },
      request: { input throws(HTTPError) in
        CommandCredentials.apply(to: try input.request(template, makeURL), settings)
      },
      transform: { input, response throws(HTTPError) in try await fetch(input, response) })
  }

  private static func state(_ path: String?) async throws(CommandFailure) -> BatchState? {
    guard let path else { return nil }
    do throws(HTTPError) {
      return try await BatchState(path: path)
    } catch {
      throw CommandFailure(status: ExitStatus(Int32(error.code)), message: error.description)
    }
  }

  private static func checkWritable(_ path: String) throws(CommandFailure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw CommandFailure(
        status: .writeFailed,
        message: "can't write \(UsageError.quote(path)): \(SystemErrorText.text(for: errno))")
    }
    close(descriptor)
  }

  /// Nil where URLs are taken as they are.
  private static func urlMaker(_ settings: Settings, _ data: [UInt8]) -> (@Sendable (String) -> String)? {
    if settings.queryItems.isEmpty, !settings.dataInQuery, settings.upload == nil { return nil }
    return { settings.requestURL($0, data: data) }
  }

  /// What a batch wants otherwise of its client: places for all that it may run, no wait for them that could end
  /// in a failure.
  static func prepare(_ configuration: inout ClientConfiguration, _ settings: Settings) {
    let limits = limits(settings)
    configuration.limits.total = max(configuration.limits.total, limits.total)
    configuration.limits.perHost = max(configuration.limits.perHost, limits.perHost)
    configuration.keptConnections = max(configuration.keptConnections, limits.total)
    configuration.timeouts.admission = nil
    // Each loop has connections of its own: with few for a host one loop makes better use of them.
    let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    configuration.loops = max(1, min(4, processors, limits.perHost / 16))
  }

  /// The verb from its settings to its status.
  static func run(
    _ settings: Settings, _ client: Client, _ data: [UInt8], _ output: QueuedOutput
  ) async throws(CommandFailure) -> ExitStatus {
    let verb = try await BatchVerb(settings: settings, client: client, data: data, output: output)
    output.onFailure { verb.outputFailed() }
    Interrupts.onSignal { verb.interrupt($0, isFirst: $1) }
    let status = await settings.saveCookies(of: client, after: verb.perform())
    await verb.state?.close()
    await client.shutdown(.immediate)
    return status
  }

  static func limits(_ settings: Settings) -> BatchLimits {
    var limits = BatchLimits(total: settings.parallel ?? 64)
    limits.perHost =
      settings.batch.perHost ?? (settings.batch.isAdaptive ? limits.total : min(8, limits.total))
    limits.ratePerHost = settings.batch.rate.map { .perSecond($0) }
    if let longest = settings.retryMaximumDelay { limits.longestHold = longest }
    // Bodies stream, unless they are shown.
    if let shown = settings.bodyDisplay, shown != .none { limits.bytesInFlight = .mebibytes(256) }
    if settings.batch.isAdaptive { limits.adaptation = BatchAdaptation() }
    return limits
  }

  private static func options(_ settings: Settings) -> BatchOptions {
    var options = BatchOptions()
    options.failsFast = settings.batch.failsFast
    options.joinsIdentical = settings.batch.joinsIdentical
    options.joinMemory.count = 100_000
    options.retry = settings.retryPolicy
    options.robots = settings.batch.robots.map { RobotsPolicy(agent: $0) }
    return options
  }

  /// What a signal does: the first SIGINT lets what runs end, any other ends it now, with its result.
  func interrupt(_ signal: Int32, isFirst: Bool) -> Duration? {
    if isFirst, signal == SIGINT {
      run.drain()
      return nil
    }
    run.stop()
    return .seconds(2)
  }

  /// Nobody reads the output any more.
  func outputFailed() { run.stop() }

  // MARK: the run

  func perform() async -> ExitStatus {
    let ledger = BatchLedger(reports: settings.batch.report != nil)
    let display = BatchDisplay.kind(settings).map { kind in
      BatchDisplay(kind, output: output) { [facts, run] in
        ledger.standing(running: run.status.running, read: run.status.read, facts: facts)
      }
    }
    var failure: Failure?
    do {
      // On a loop, where results come from: there is hardly a thread to wake for them.
      try await client.onLoop { await consume(ledger) }
    } catch {
      ledger.fail(.http((error as? HTTPError) ?? .cancelled))
    }
    failure = ledger.failure
    await display?.finish()
    return await end(ledger, failure)
  }

  private func consume(_ ledger: BatchLedger) async {
    do throws(Failure) {
      var results = run.makeAsyncIterator()
      while let result = try await next(&results) {
        var gathered = BatchLedger.Gathering(state: state != nil)
        add(result, to: &gathered, ledger)
        while gathered.text.count < 128 << 10, let result = results.nextReady() {
          add(result, to: &gathered, ledger)
        }
        try await store(gathered)
      }
    } catch {
      ledger.fail(error)
    }
  }

  private func next(_ results: inout Run.Iterator) async throws(Failure) -> Run.Element? {
    do throws(HTTPError) { return try await results.next() } catch { throw .http(error) }
  }

  private func add(_ result: Run.Element, to gathered: inout BatchLedger.Gathering, _ ledger: BatchLedger) {
    ledger.add(result, at: ContinuousClock.now - begin)
    BatchLines.append(result, settings.bodyDisplay, to: &gathered.text)
    gathered.note(result)
  }

  /// Writes the lines, and only then remembers that they were written.
  private func store(_ gathered: BatchLedger.Gathering) async throws(Failure) {
    do throws(OutputError) {
      try await output.write(gathered.text)
      if state != nil { try await output.finish() }
    } catch {
      throw .output(error)
    }
    guard let state else { return }
    do throws(HTTPError) { try await state.record(gathered.records) } catch { throw .http(error) }
  }

  private func end(_ ledger: BatchLedger, _ failure: Failure?) async -> ExitStatus {
    let duration = ContinuousClock.now - begin
    let tally = ledger.tally
    var status = tally.failed > 0 ? ExitStatus.someFailed : .success
    var failure = output.failure.map { .output($0) } ?? failure
    do throws(OutputError) {
      try await output.write(tally.summary(skipped: facts.skipped, duration: duration))
      try await output.finish()
    } catch {
      failure = .output(error)
    }
    if let path = settings.batch.report, let report = ledger.report {
      let page = BatchReportPage(
        tally: tally, report: report, skipped: facts.skipped, duration: duration,
        wasInterrupted: Interrupts.received != nil)
      do throws(CommandFailure) { try Self.write(page.text, to: path) } catch {
        failure = failure ?? .command(error)
      }
    }
    if let failure { status = failure.status(settings) }
    if let signal = Interrupts.received { status = .signalled(signal) }
    return status
  }

  private static func write(_ text: String, to path: String) throws(CommandFailure) {
    func refused(_ number: Int32) -> CommandFailure {
      CommandFailure(
        status: .writeFailed,
        message: "can't write \(UsageError.quote(path)): \(SystemErrorText.text(for: number))")
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw refused(errno) }
    defer { close(descriptor) }
    do throws(OutputError) {
      try DescriptorWriter(descriptor: descriptor).write(text)
    } catch {
      if case .failed(let number) = error { throw refused(number) }
      throw refused(EPIPE)
    }
  }
}
