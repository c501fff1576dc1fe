import Penstock

/// How a run of one URL ended badly.
enum Failure: Error {
  case http(HTTPError)
  case output(OutputError)
  case command(CommandFailure)

  /// The number of the exit status.
  var code: Int32 {
    switch self {
    case .http(let error) where error.kind == .cancelled:
      (Interrupts.received.map { .signalled($0) } ?? ExitStatus(Int32(error.code))).code
    case .http(let error): Int32(error.code)
    case .output: ExitStatus.writeFailed.code
    case .command(let failure): failure.status.code
    }
  }

  /// The same, naming the request that was answered.
  func about(_ request: Request) -> Failure {
    guard case .http(let error) = self else { return self }
    return .http(error.naming(method: request.method, url: request.url))
  }

  /// The exit status; tells people on standard error unless they asked for silence.
  func status(
    _ settings: Settings, telling tell: (String) -> Void = StandardError.tell
  ) -> ExitStatus {
    if !settings.isSilent, let message { tell(message) }
    return ExitStatus(code)
  }

  /// What there is to tell; a run that was interrupted, or whose reader has left, ends without a word.
  private var message: String? {
    switch self {
    case .http(let error): error.kind == .cancelled ? nil : error.description
    case .output(let error): error == .brokenPipe ? nil : error.message
    case .command(let failure): failure.message
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
