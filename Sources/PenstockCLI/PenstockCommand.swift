import Penstock

/// The command: arguments in, exit status out.
@main
enum PenstockCommand {
  // Not an asynchronous main: the runtime would drain the main queue with `dispatch_main`, which unblocks all
  // signals on the main thread, and the first SIGINT would kill the process. It also keeps the work below off the
  // main actor.
  nonisolated static func main() {
    // First of all: threads that start later inherit what is blocked here, and sockets must not become
    // standard output.
    Interrupts.block()
    StandardDescriptors.fillGaps()
    Task.detached {
      ProcessEnd.exit(with: await run(ProcessArguments.read()))
    }
    Interrupts.wait()
  }

  /// Runs a command line to its end.
  nonisolated static func run(_ arguments: Result<[String], UsageError>) async -> ExitStatus {
    do throws(UsageError) {
      return try await perform(try CommandLineParser.parse(try arguments.get()))
    } catch {
      StandardError.tell(error.message)
      return .usage
    }
  }

  nonisolated private static func perform(
    _ invocation: CommandLineParser.Invocation
  ) async throws(UsageError) -> ExitStatus {
    switch invocation {
    case .help(let verb): return printed(HelpText.text(for: verb))
    case .version: return printed(VersionText.line)
    case .run(let settings): return try await run(settings)
    }
  }

  /// Runs a verb as a task that a signal cancels, so that everything ends by its usual way.
  nonisolated private static func run(_ settings: Settings) async throws(UsageError) -> ExitStatus {
    if settings.http.printsCurl {
      return settings.verb == .batch
        ? await BatchCurl.run(settings) : printed(CurlText.text(settings) + "\n")
    }
    let data: [UInt8]
    let output: QueuedOutput
    let netrc: NetrcFile?
    // What is read may be a pipe that nobody writes to.
    Interrupts.onSignal { signal, _ in
      EarlyEnd.interrupted(by: signal, settings)
      return .zero
    }
    do throws(CommandFailure) {
      try settings.checkFiles()
      netrc = try CommandCredentials.netrc(settings)
      data = try settings.loadData()
      output = QueuedOutput(settings.verb == .get ? try GetVerb.output(settings) : .standardOutput)
    } catch {
      EarlyEnd.tell(error, settings)
      return Failure.command(error).status(settings)
    }
    let client = RequestBuilder.client(settings, netrc: netrc)
    let task: Task<ExitStatus, Never>
    switch settings.verb {
    case .get:
      let display = GetVerb.display(settings)
      task = Task {
        await GetVerb(settings: settings, client: client, data: data, output: output, display: display).run()
      }
    case .lines:
      task = Task { await LinesVerb(settings: settings, client: client, data: data, output: output).run() }
    case .sse:
      task = Task { await SSEVerb(settings: settings, client: client, data: data, output: output).run() }
    case .events:
      task = Task { await EventsVerb(settings: settings, client: client, data: data, output: output).run() }
    case .download:
      let display = DownloadVerb.display(settings)
      task = Task {
        await DownloadVerb(settings: settings, client: client, data: data, output: output, display: display)
          .run()
      }
    case .batch:
      do throws(CommandFailure) {
        return try await BatchVerb.run(settings, client, data, output)
      } catch {
        return Failure.command(error).status(settings)
      }
    case .help:
      return .success
    }
    // What is written for may be waiting for bytes that nobody will read.
    output.onFailure { task.cancel() }
    Interrupts.onSignal { _, _ in
      task.cancel()
      return .seconds(2)
    }
    let status = await settings.saveCookies(of: client, after: task.value)
    await client.shutdown(.immediate)
    return status
  }

  nonisolated private static func printed(_ text: String) -> ExitStatus {
    do throws(OutputError) {
      try DescriptorWriter.standardOutput.write(text)
      return .success
    } catch {
      return error.exitStatus(telling: StandardError.tell)
    }
  }
}
