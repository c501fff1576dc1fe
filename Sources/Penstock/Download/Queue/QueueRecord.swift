import FoundationEssentials
import Glibc

/// What a queue's state file says of the downloads that aren't done. Requests that aren't plain GETs, and fields
/// that hold secrets, aren't kept.
struct QueueRecord: Sendable, Hashable, Codable {
  struct Entry: Sendable, Hashable, Codable {
    var key: Int
    var url: String
    var headers: [[String]]
    var file: String?
    var directory: String?
    var overwrite: String
    var resume: String
    /// 0: automatic.
    var segments: Int
    var mirrors: [String]
    var checksum: String?
    var digest: String?
    var priority: Int
    var remoteTime: Bool
  }

  var version = 1
  var entries: [Entry] = []

  private static let limit = 64 << 20

  /// Replaces the file as a whole. URLs may hold secrets, such as signatures: it is for its owner's eyes alone.
  func write(to path: String) throws(HTTPError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else { return }
    let number = AtomicFile.replace(path, with: Array(data), access: .ownerOnly, durability: .content)
    if number != 0 { throw FileFailure.make(path, number) }
  }

  /// An empty one where there is no file.
  static func read(_ path: String) throws(HTTPError) -> QueueRecord {
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard opened >= 0 else {
      if errno == ENOENT { return QueueRecord() }
      throw HTTPError(
        .readFailed, phase: .file, message: "\"\(path)\" can't be read: \(FileFailure.text(errno))")
    }
    defer { close(opened) }
    var bytes: [UInt8] = []
    _ = SmallFile.append(to: &bytes, from: opened, limit: limit)
    guard let record = try? JSONDecoder().decode(QueueRecord.self, from: Data(bytes)), record.version == 1
    else {
      throw HTTPError(
        .readFailed, phase: .file, message: "\"\(path)\" isn't the state of a queue of downloads",
        advice: "Move it away to begin with an empty queue")
    }
    return record
  }
}

extension QueueRecord.Entry {
  /// Nil for what can't be kept.
  init?(_ key: Int, _ request: Request, _ target: DownloadTarget, _ options: DownloadOptions) {
    guard request.method == .get, request.body.isEmpty else { return nil }
    let secrets = Set(request.secretHeaders.map { $0.lowercased() })
    self.key = key
    url = request.url
    headers = request.headers.filter {
      !Redaction.isSecretField($0.name) && !secrets.contains($0.name.lowercased())
    }.map { [$0.name, $0.value] }
    switch target {
    case .file(let path): file = path
    case .directory(let path): directory = path
    }
    overwrite = options.overwrite.rawValue
    resume =
      switch options.resume {
      case .never: "never"
      case .ifUnchanged: "if_unchanged"
      case .always: "always"
      }
    segments = if case .count(let count) = options.segments { count } else { 0 }
    mirrors = options.mirrors
    checksum = options.checksum.map { "\($0.algorithm.rawValue)=\($0.hex)" }
    digest = options.digest?.rawValue
    priority = options.priority
    remoteTime = options.keepsRemoteTime
  }

  var request: Request {
    var request = Request.get(url)
    for field in headers where field.count == 2 { request.headers.append(field[0], field[1]) }
    return request
  }

  var target: DownloadTarget { file.map { .file($0) } ?? .directory(directory ?? ".") }

  var options: DownloadOptions {
    var options = DownloadOptions(overwrite: DownloadOptions.Overwrite(rawValue: overwrite) ?? .never)
    options.resume = resume == "never" ? .never : resume == "always" ? .always : .ifUnchanged
    options.segments = segments == 0 ? .automatic : .count(segments)
    options.mirrors = mirrors
    if let parts = checksum?.split(separator: "=", maxSplits: 1), parts.count == 2 {
      options.checksum = Digest.Algorithm(name: String(parts[0])).flatMap {
        Digest($0, hex: String(parts[1]))
      }
    }
    options.digest = digest.flatMap { Digest.Algorithm(name: $0) }
    options.priority = priority
    options.keepsRemoteTime = remoteTime
    return options
  }
}
