extension HTTPError {
  /// What a stream of somebody threw as the one error that ours throw.
  static func ofStream(_ error: any Error) -> HTTPError {
    if let error = error as? HTTPError { return error }
    if error is CancellationError { return .cancelled(phase: .body) }
    return HTTPError(.readFailed, phase: .body, message: "the stream failed: \(error)")
  }
}
