import Penstock

/// A run that ends before its first request, because a file can't be read or a signal came while it was. Whoever
/// reads the lines of `events` and `download` is told as of any other end.
enum EarlyEnd {
  static func tell(_ failure: CommandFailure, _ settings: Settings) {
    let kind: HTTPError.Kind = failure.status == .writeFailed ? .writeFailed : .readFailed
    tell(HTTPError(kind, phase: .file, message: failure.message), failure.status, settings)
  }

  static func interrupted(by signal: Int32, _ settings: Settings) {
    tell(.cancelled, .signalled(signal), settings)
  }

  private static func tell(_ error: HTTPError, _ status: ExitStatus, _ settings: Settings) {
    let names: [String?]
    switch settings.verb {
    case .events: names = [nil]
    case .download where settings.progress == .json: names = settings.urls.count > 1 ? settings.urls : [nil]
    default: return
    }
    for name in names {
      var line = JSONLine(event: "failed")
      if let name { line.string("url", Redaction.userInfo(name)) }
      line.failure(error, code: status.code, phase: error.phase, received: 0, status: nil)
      // Standard error and the exit status tell it all the same.
      try? DescriptorWriter.standardOutput.write(line.finish())
    }
  }
}
