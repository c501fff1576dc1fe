extension HTTPError {
  /// What a stream of somebody threw as the one error that ours throw.
  static func ofStream(_ error: any Error) -> HTTPError {
    thrown(
      error, or: .readFailed, phase: .body, cancelled: .cancelled(phase: .body), "the stream failed: \(error)"
    )
  }
}
