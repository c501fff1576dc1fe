import Glibc
import Penstock

/// `penstock get`: streams decoded bodies to standard output or a file, one URL after another.
struct GetVerb {
  let settings: Settings
  let client: Client
  let data: [UInt8]
  let output: QueuedOutput
  let display: ProgressDisplay?

  /// Where the bodies go. A file is opened, and emptied, before any request.
  static func output(_ settings: Settings) throws(CommandFailure) -> DescriptorWriter {
    guard case .file(let path) = settings.output else { return .standardOutput }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      let message = "can't write \(UsageError.quote(path)): \(SystemErrorText.text(for: errno))"
      throw CommandFailure(status: .writeFailed, message: message)
    }
    return DescriptorWriter(descriptor: descriptor)
  }

  /// Progress is for people: where they see it, and the body goes elsewhere.
  static func display(_ settings: Settings) -> ProgressDisplay? {
    guard !settings.isSilent, Terminal.standardError.canRedraw else { return nil }
    if settings.output == .standardOutput, Terminal.standardOutput.isTerminal { return nil }
    return ProgressDisplay(count: 1, delay: .milliseconds(500))
  }

  func run() async -> ExitStatus {
    let run = PrintingRun(settings: settings, client: client, data: data, output: output, display: display)
    return await run.run { (request, key) throws(Failure) in
      try await run.fetch(request, key, into: RawPrinter(output: output))
    }
  }
}

/// Bodies as they are.
struct RawPrinter: BodyPrinter {
  let output: QueuedOutput

  mutating func print(_ chunk: BodyChunk) async throws(Failure) {
    do throws(OutputError) { try await output.write(chunk) } catch { throw .output(error) }
  }

  mutating func finish() async throws(Failure) {}
}
