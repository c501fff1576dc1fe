import Penstock

/// How a run of one URL ended badly.
enum Failure: Error {
  case http(HTTPError)
  case output(OutputError)
  case command(CommandFailure)

  /// The exit status; tells people on standard error unless they asked for silence.
  func status(_ settings: Settings) -> ExitStatus {
    switch self {
    case .http(let error) where error.kind == .cancelled:
      return Interrupts.received.map { .signalled($0) } ?? ExitStatus(Int32(error.code))
    case .http(let error):
      if !settings.isSilent { StandardError.tell(error.description) }
      return ExitStatus(Int32(error.code))
    case .output(let error):
      return error.exitStatus { if !settings.isSilent { StandardError.tell($0) } }
    case .command(let failure):
      if !settings.isSilent { StandardError.tell(failure.message) }
      return failure.status
    }
  }

  /// A status that `--fail` refuses.
  static func refused(_ status: HTTPStatus, _ reason: String, _ request: Request) -> Failure {
    .http(
      HTTPError(
        .httpStatus, phase: .head,
        message: "the server answered \(status)\(reason.isEmpty ? "" : " " + reason)",
        method: request.method, url: request.url, status: status))
  }

  /// A body that is larger than `--max-body`.
  static func tooLarge(_ limit: Int64, _ request: Request, status: HTTPStatus, received: Int64) -> Failure {
    .http(
      HTTPError(
        .bodyTooLarge, phase: .body, message: "the body is larger than the limit of \(limit) bytes",
        method: request.method, url: request.url, status: status, received: received))
  }
}
