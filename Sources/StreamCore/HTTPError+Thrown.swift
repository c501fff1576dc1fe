extension HTTPError {
  /// What a closure or a sequence of somebody's threw, as the one error that is ours: an `HTTPError` as it is, the end
  /// of a task as a cancellation, anything else as `kind`, told by `text`.
  package static func thrown(
    _ error: any Error, or kind: Kind, phase: Phase, cancelled: HTTPError = .cancelled,
    _ text: @autoclosure () -> String
  ) -> HTTPError {
    if let error = error as? HTTPError { return error }
    if error is CancellationError { return cancelled }
    return HTTPError(kind, phase: phase, message: text())
  }
}
