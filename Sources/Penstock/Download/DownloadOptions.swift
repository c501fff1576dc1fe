/// Where a download goes.
public enum DownloadTarget: Sendable, Hashable {
  /// This very file.
  case file(String)
  /// Into this folder, under a name from Content-Disposition (RFC 6266) made safe, else from the final URL.
  case directory(String)
}

/// What a download does otherwise than by default.
public struct DownloadOptions: Sendable {
  /// What happens when the file is there already.
  public enum Overwrite: String, Sendable, Hashable, CaseIterable {
    /// It fails with `HTTPError.Kind.fileExists`, before the request where the name is known.
    case never
    /// The new file gets a number: "name (1).ext".
    case rename
    /// The new file takes its place, once it is whole.
    case replace
  }

  /// What becomes of bytes that an interrupted try has left.
  public enum Resume: Sendable, Hashable {
    /// Each download begins at the first byte.
    case never
    /// It goes on where the server says by a strong validator (RFC 9110 §8.8.1) that nothing has changed.
    case ifUnchanged
    /// It also goes on without a strong validator, where nothing speaks against it: for servers that have none
    /// and files that never change. A checksum is the way to be sure.
    case always
  }

  /// How many ranges are loaded at once.
  public enum Segments: Sendable, Hashable {
    /// So many, at least 1, as long as each has its minimum size.
    case count(Int)
    /// As many as make it faster, by size, observed speed and the server's behaviour; at most 8.
    case automatic
  }

  /// When the file is loaded at all.
  public enum Condition: Sendable, Hashable {
    /// Always.
    case always
    /// Only if it has changed since the time of the file that is there (If-Modified-Since, RFC 9110 §13.1.3);
    /// for `Overwrite.replace`.
    case ifModified
    /// Only if its entity tag is another one (If-None-Match, RFC 9110 §13.1.2).
    case ifNoneMatch(String)
  }

  /// What becomes of a file whose digest isn't the expected one.
  public enum Mismatch: Sendable, Hashable {
    /// It is removed.
    case remove
    /// It is kept as "NAME.bad".
    case keepAside
  }

  /// What happens when the file is there already; `never`.
  public var overwrite: Overwrite
  /// What becomes of bytes that an interrupted try has left; `ifUnchanged`.
  public var resume: Resume
  /// How many ranges are loaded at once; 1. Servers that don't honour ranges get one request for the whole.
  public var segments: Segments
  /// No range is smaller than this when the work is shared; 1 MiB.
  public var minimumSegment = ByteCount.mebibytes(1)
  /// The digest that the file must have, else `HTTPError.Kind.checksumMismatch` is thrown and no file appears.
  public var checksum: Digest?
  /// What becomes of a file whose digest isn't the expected one; `remove`.
  public var mismatch = Mismatch.remove
  /// Whether the digest that the server tells (`Repr-Digest`, RFC 9530; `Digest`) is demanded too; true.
  public var verifiesServerDigest = true
  /// A digest that is computed while the bytes come, told by `DownloadedFile.digest`; none by default, as it
  /// costs more than the download.
  public var digest: Digest.Algorithm?
  /// Other places that have the same file: they are asked when the first one fails, and for segments. Each must
  /// agree in size, and in validator unless there is a checksum.
  public var mirrors: [String] = []
  /// When it is tried again, and how often in a row without getting any further (`RetryPolicy.limit`): three
  /// times by default, after lost connections, time limits and the usual statuses. What has come isn't asked for
  /// again where the server allows that.
  public var retry = RetryPolicy()
  /// Gives another URL for the same file when the one at hand is refused with 403 or 410, as one whose signature
  /// has expired is; nil from it fails the download.
  public var urlProvider: (@Sendable (_ refused: HTTPError) async -> String?)?
  /// When the file is loaded at all; `always`.
  public var condition = Condition.always
  /// Whether the file gets the time of `Last-Modified`; false.
  public var keepsRemoteTime = false
  /// The largest file that is taken; nil for any. Beyond it `HTTPError.Kind.bodyTooLarge` is thrown.
  public var maximumSize: ByteCount?
  /// Whether content codings are asked for and taken off; false: what is stored is what the server stores. A
  /// download that decodes can't be resumed.
  public var decodesContent = false
  /// No faster than this; nil for no limit. `Download.setRateLimit` changes it on the way.
  public var rateLimit: ByteRate?
  /// Larger goes first among what waits, for connections and in `Client.downloads`; 0.
  public var priority = 0
  /// Whether a part that can't surely be continued stays too when the download is cancelled; false.
  public var keepsPartWhenCancelled = false
  /// How many bytes may wait for the disk; 2 MiB. Above that the network is held back.
  public var writeBuffer = ByteCount.mebibytes(2)

  /// The defaults, but for these.
  public init(
    overwrite: Overwrite = .never, resume: Resume = .ifUnchanged, segments: Segments = .count(1),
    checksum: Digest? = nil, digest: Digest.Algorithm? = nil
  ) {
    self.overwrite = overwrite
    self.resume = resume
    self.segments = segments
    self.checksum = checksum
    self.digest = digest
  }

  /// The first setting that can't be.
  func check() throws(HTTPError) {
    var wrong: String?
    if case .count(let count) = segments, count < 1 || count > 256 { wrong = "segments (1 to 256)" }
    if minimumSegment.bytes < 1 { wrong = "minimumSegment (positive)" }
    if let name = retry.invalidSetting { wrong = "retry." + name }
    if let maximumSize, maximumSize.bytes < 0 { wrong = "maximumSize (0 or more)" }
    guard let wrong else { return }
    throw HTTPError(
      .invalidConfiguration, phase: .queue, message: "the download's option \(wrong) is out of range")
  }

  /// Every digest that has to be computed, but for what a server may tell.
  var algorithms: [Digest.Algorithm] {
    var wanted: [Digest.Algorithm] = []
    for algorithm in [digest, checksum?.algorithm].compactMap({ $0 }) where !wanted.contains(algorithm) {
      wanted.append(algorithm)
    }
    return wanted
  }
}
