import Glibc

/// Where a download goes and under which name; what can be known before the request is checked before it.
struct DownloadPlace: Sendable {
  private let target: DownloadTarget
  private let overwrite: DownloadOptions.Overwrite
  /// What is added to a name while it isn't whole.
  static let partSuffix = ".part"
  static let sidecarSuffix = ".part.json"

  init(_ target: DownloadTarget, overwrite: DownloadOptions.Overwrite) {
    self.target = target
    self.overwrite = overwrite
  }

  func checkBeforeRequest() throws(HTTPError) {
    switch target {
    case .directory(let path): try Self.checkDirectory(path)
    case .file(let path):
      guard !path.isEmpty, !path.hasSuffix("/") else {
        throw FileFailure.make(path, EISDIR, "the target is a folder")
      }
      try check(path)
    }
  }

  /// The final path for a response.
  func path(for response: Response) throws(HTTPError) -> String {
    switch target {
    case .file(let path):
      try check(path)
      return path
    case .directory(let directory):
      let name = FileName.from(response)
      let path = directory.hasSuffix("/") ? directory + name : directory + "/" + name
      try check(path)
      return path
    }
  }

  private func check(_ path: String) throws(HTTPError) {
    let (directory, name) = Self.split(path)
    try Self.checkDirectory(directory)
    guard name.utf8.count + Self.sidecarSuffix.utf8.count <= 255 else {
      throw FileFailure.make(path, ENAMETOOLONG)
    }
    var facts = stat()
    guard lstat(path, &facts) == 0 else { return }
    if facts.st_mode & S_IFMT == S_IFDIR { throw FileFailure.make(path, EISDIR, "the target is a folder") }
    if overwrite == .never { throw FileFailure.exists(path) }
  }

  private static func checkDirectory(_ path: String) throws(HTTPError) {
    let path = path.isEmpty ? "." : path
    var facts = stat()
    guard stat(path, &facts) == 0 else { throw FileFailure.make(path, errno) }
    guard facts.st_mode & S_IFMT == S_IFDIR else { throw FileFailure.make(path, ENOTDIR) }
    guard access(path, W_OK | X_OK) == 0 else { throw FileFailure.make(path, errno) }
  }

  /// Folder and name of a path; the folder of a bare name is ".".
  static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let directory = path[..<slash]
    return (directory.isEmpty ? "/" : String(directory), String(path[path.index(after: slash)...]))
  }
}

/// Errors of the file system as `HTTPError`.
enum FileFailure {
  static func make(_ path: String, _ number: Int32, _ what: String? = nil) -> HTTPError {
    let reason = what ?? text(number)
    switch number {
    case ENOSPC, EDQUOT:
      return HTTPError(
        .diskFull, phase: .file, message: "\"\(path)\" can't be written: \(reason)",
        advice: "Free some space; what has come is kept beside it as a part file")
    case EIO:
      return HTTPError(
        .diskFailed, phase: .file, message: "\"\(path)\" can't be written: \(reason)",
        advice: "Check the disk; what has come is kept beside it as a part file")
    default:
      return HTTPError(
        .writeFailed, phase: .file, message: "\"\(path)\" can't be written: \(reason)",
        advice: "Check that the folder exists and may be written to")
    }
  }

  static func exists(_ path: String) -> HTTPError {
    HTTPError(
      .fileExists, phase: .file, message: "\"\(path)\" exists already",
      advice: "Choose another name, or let it be replaced or numbered")
  }

  static func text(_ number: Int32) -> String {
    strerror(number).map { String(cString: $0) } ?? "error \(number)"
  }
}

extension HTTPError.Kind {
  /// Whether the disk is to blame: then what has come is kept.
  var isDisk: Bool { self == .diskFull || self == .diskFailed }
}
