/// Where a download goes.
public enum DownloadTarget: Sendable, Hashable {
  /// This very file.
  case file(String)
  /// Into this folder, under a name from Content-Disposition (RFC 6266) made safe, else from the final URL.
  case directory(String)
}

/// What a download does otherwise than by default.
public struct DownloadOptions: Sendable, Hashable {
  /// What happens when the file is there already.
  public enum Overwrite: String, Sendable, Hashable, CaseIterable {
    /// It fails with `HTTPError.Kind.fileExists`, before the request where the name is known.
    case never
    /// The new file gets a number: "name (1).ext".
    case rename
    /// The new file takes its place, once it is whole.
    case replace
  }

  /// What happens when the file is there already; `never`.
  public var overwrite: Overwrite
  /// A digest that is computed while the bytes come, told by `DownloadedFile.digest`; none by default, as it
  /// costs more than the download.
  public var digest: Digest.Algorithm?
  /// How many bytes may wait for the disk; 2 MiB. Above that the network is held back.
  public var writeBuffer = ByteCount.mebibytes(2)

  /// The defaults, but for these.
  public init(overwrite: Overwrite = .never, digest: Digest.Algorithm? = nil) {
    self.overwrite = overwrite
    self.digest = digest
  }
}

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
}

/// What happens in a download: `started`, then `progress`, then `finished` or `failed`.
public enum DownloadEvent: Sendable {
  /// The head is there and the file has its name.
  case started(DownloadStart)
  /// How far it is: the latest value, at most ten a second; a slow observer misses the ones between.
  case progress(TransferProgress)
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
  /// How many bytes will come, nil when unknown.
  public let total: Int64?
}
