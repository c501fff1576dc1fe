/// Hands the progress of one call to closures.
struct ProgressObserver: ExchangeObserver {
  let upload: (@Sendable (UploadProgress) -> Void)?
  let download: (@Sendable (TransferProgress) -> Void)?

  func happened(_ event: TransferEvent, in exchange: ObservedExchange) {
    switch event {
    case .uploadProgress(let progress): upload?(progress)
    case .progress(let progress): download?(progress)
    default: break
    }
  }
}

extension Call {
  /// Tells how much of the request's body is sent: the latest value, never a backlog. Called in the task that makes the
  /// call: it must be quick.
  public func onUploadProgress(_ body: @escaping @Sendable (UploadProgress) -> Void) -> Call {
    observed(by: ProgressObserver(upload: body, download: nil))
  }

  /// Tells how much of the answer has come: at most ten times a second, and once at its end. Called in the task that
  /// reads the answer: it must be quick.
  public func onProgress(_ body: @escaping @Sendable (TransferProgress) -> Void) -> Call {
    observed(by: ProgressObserver(upload: nil, download: body))
  }
}
