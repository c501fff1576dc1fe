/// The command: arguments in, exit status out.
@main
enum PenstockCommand {
  // Nonisolated, so that nothing below hops to the main actor.
  nonisolated static func main() async {
    // First of all: threads that start later inherit what is blocked here, and sockets must not become
    // standard output.
    Interrupts.install()
    StandardDescriptors.fillGaps()
    let status = await run(ProcessArguments.read())
    ProcessEnd.exit(with: status)
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
    case .version: throw UsageError("--version is not supported yet")
    case .run(let settings): throw UsageError("\(settings.verb.rawValue) is not supported yet")
    }
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
