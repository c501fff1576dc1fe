import Glibc
import Penstock

/// `penstock download`: to files, several at a time.
struct DownloadVerb {
  let settings: Settings
  let client: Client
  let data: [UInt8]
  let output: QueuedOutput
  let display: ProgressDisplay?

  /// How many at a time without `-j`.
  static let usualParallel = 4

  /// The display that the settings ask for.
  static func display(_ settings: Settings) -> ProgressDisplay? {
    switch settings.progress {
    case .none, .json: nil
    case .bar: ProgressDisplay(count: settings.urls.count)
    case .auto: settings.isSilent ? nil : ProgressDisplay(count: settings.urls.count)
    }
  }

  /// 0 when all went well, the one status when all failures share it, else 1.
  func run() async -> ExitStatus {
    // As batch does. Where it can't be made, the first file says so.
    if let directory = settings.directory { mkdir(directory, 0o777) }
    var statuses = await withTaskGroup(of: ExitStatus.self) { group in
      var statuses: [ExitStatus] = []
      for (key, url) in settings.urls.enumerated() {
        if key >= settings.parallel ?? Self.usualParallel, let status = await group.next() {
          statuses.append(status)
        }
        group.addTask { await job(key, url).run() }
      }
      for await status in group { statuses.append(status) }
      return statuses
    }
    do throws(OutputError) {
      try await output.finish()
    } catch {
      statuses = [Failure.output(error).status(settings, telling: tell)]
    }
    await display?.finish()
    return Self.combined(statuses)
  }

  /// The status of a run from those of its files.
  static func combined(_ statuses: [ExitStatus]) -> ExitStatus {
    let failures = statuses.filter { $0 != .success }
    guard let first = failures.first else { return .success }
    if let number = Interrupts.received, failures.contains(.signalled(number)) { return .signalled(number) }
    return failures.allSatisfy { $0 == first } ? first : .someFailed
  }

  private func tell(_ message: String) {
    if let display { display.say("penstock: " + message) } else { StandardError.tell(message) }
  }

  private func job(_ key: Int, _ url: String) -> DownloadJob {
    DownloadJob(
      key: key, url: url, settings: settings, client: client, data: data, output: output, display: display)
  }
}
