/// What the process ends with: curl's numbers (CLI contract, "Exit status").
struct ExitStatus: Sendable, Equatable {
  let code: Int32

  init(_ code: Int32) { self.code = code }

  static let success = ExitStatus(0)
  static let someFailed = ExitStatus(1)
  static let usage = ExitStatus(2)
  static let writeFailed = ExitStatus(23)
  static let readFailed = ExitStatus(26)

  /// Ended by a signal: 128 and its number, as shells count.
  static func signalled(_ number: Int32) -> ExitStatus { ExitStatus(128 + number) }
}

/// The run can't go on: one line on standard error, then this status.
struct CommandFailure: Error, Sendable, Equatable {
  let status: ExitStatus
  let message: String
}
