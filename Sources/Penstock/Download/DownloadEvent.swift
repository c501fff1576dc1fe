/// A file that was downloaded: it is whole, synced, and under its final name.
public struct DownloadedFile: Sendable {
  /// Where it is.
  public let path: String
  /// Its size.
  public let bytes: Int64
  /// From the call to the end.
  public let duration: Duration
  /// The digest that was asked for.
  public let digest: Digest?
  /// The URL that answered.
  public let url: String
  /// The final head.
  public let head: ResponseHead
  /// Whether the end of the body could be told from a cut; see `ResponseBody.isEndVerifiable`.
  public let isEndVerified: Bool
  /// How many of the bytes an earlier try had left.
  public var resumedAt: Int64 = 0
  /// Whether an expected digest was compared and found equal.
  public var isChecksumVerified = false
  /// Whether nothing was loaded, as the file that is there is the server's (304).
  public var isUnchanged = false
}

/// What happens in a download: `started`, then `progress`, `retry` and `restarted`, then `finished` or `failed`.
public enum DownloadEvent: Sendable {
  /// The head is there and the file has its name.
  case started(DownloadStart)
  /// How far it is: the latest value, at most ten a second; a slow observer misses the ones between.
  case progress(TransferProgress)
  /// It begins again at the first byte: what had come is no use.
  case restarted(RestartReason)
  /// A transfer failed, and is tried again from where it was.
  case retry(DownloadRetry)
  /// The file is there. The last event.
  case finished(DownloadedFile)
  /// There is no file. The last event.
  case failed(HTTPError)
}

/// What is known when a download's head has come.
public struct DownloadStart: Sendable, Hashable {
  /// The URL that answered.
  public let url: String
  /// The final name that the file will get.
  public let file: String
  /// How many bytes the whole has, nil when unknown.
  public let total: Int64?
  /// How many bytes an earlier try had left.
  public var resumedAt: Int64 = 0
  /// How many ranges are loaded at once, to begin with.
  public var segments = 1
}

/// One try that failed and will be made again.
public struct DownloadRetry: Sendable {
  /// The number of the try that follows: 2, 3, …
  public let attempt: Int
  /// How long is waited before it.
  public let delay: Duration
  /// Why.
  public let reason: HTTPError
  /// The URL that failed, secrets cut.
  public let url: String
}
