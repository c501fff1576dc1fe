import Glibc

/// Where a download goes and under which name; what can be known before the request is checked before it.
/// All of it looks at the disk: call it on a `FileQueue`.
struct DownloadPlace: Sendable {
  private let target: DownloadTarget
  private let overwrite: DownloadOptions.Overwrite
  /// What is added to a name while it isn't whole.
  static let partSuffix = ".part"
  static let sidecarSuffix = ".part.json"
  /// What is added to the name of a file that has the wrong digest and is kept.
  static let badSuffix = ".bad"

  init(_ target: DownloadTarget, overwrite: DownloadOptions.Overwrite) {
    self.target = target
    self.overwrite = overwrite
  }

  func checkBeforeRequest() throws(HTTPError) {
    switch target {
    case .directory(let path): try Self.checkDirectory(path)
    case .file(let path):
      guard !path.isEmpty, path.utf8.last != UInt8(ascii: "/") else {
        throw FileFailure.make(path, EISDIR, path.isEmpty ? "no name is given" : "the target is a folder")
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
      let path = Self.path(of: name, in: directory)
      try check(path)
      return path
    }
  }

  /// The final path where it is known before the answer: a file, or a name in a folder that an earlier run has
  /// begun for this URL.
  func knownPath(url: String) -> String? {
    switch target {
    case .file(let path): return path
    case .directory(let directory):
      let guess = FileName.from(disposition: nil, url: url)
      guard let name = Sidecar.findName(in: directory, url: url, guess: guess) else { return nil }
      let path = Self.path(of: name, in: directory)
      return (try? check(path)) == nil ? nil : path
    }
  }

  private static func path(of name: String, in directory: String) -> String {
    let separator = directory.isEmpty || directory.utf8.last == UInt8(ascii: "/") ? "" : "/"
    return directory + separator + name
  }

  private func check(_ path: String) throws(HTTPError) {
    let (directory, name) = Self.split(path)
    try Self.checkText(path)
    try Self.checkDirectory(directory)
    guard name.utf8.count + Self.sidecarSuffix.utf8.count <= Int(NAME_MAX) else {
      throw FileFailure.make(path, ENAMETOOLONG)
    }
    var facts = stat()
    if stat(path, &facts) == 0 {
      if facts.st_mode & S_IFMT == S_IFDIR { throw FileFailure.make(path, EISDIR, "the target is a folder") }
      // A rename would put a file in the place of a device.
      if facts.st_mode & S_IFMT != S_IFREG {
        throw FileFailure.make(path, EINVAL, "the target is no regular file")
      }
    } else if lstat(path, &facts) != 0 {
      return
    }
    if overwrite == .never { throw FileFailure.exists(path) }
  }

  /// When a file was changed, in seconds since 1970; nil when there is none.
  static func modificationTime(_ path: String) -> Int64? {
    var facts = stat()
    return stat(path, &facts) == 0 ? Int64(facts.st_mtim.tv_sec) : nil
  }

  static func size(_ path: String) -> Int64? {
    var facts = stat()
    return stat(path, &facts) == 0 ? Int64(facts.st_size) : nil
  }

  private static func checkDirectory(_ path: String) throws(HTTPError) {
    try checkText(path)
    let path = path.isEmpty ? "." : path
    var facts = stat()
    guard stat(path, &facts) == 0 else { throw FileFailure.make(path, errno) }
    guard facts.st_mode & S_IFMT == S_IFDIR else { throw FileFailure.make(path, ENOTDIR) }
    guard faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0 else {
      throw FileFailure.make(path, errno)
    }
  }

  /// The system would cut a path at a zero byte and write another file.
  private static func checkText(_ path: String) throws(HTTPError) {
    if path.utf8.contains(0) { throw FileFailure.make(path, EINVAL, "the name holds a zero byte") }
  }

  /// Folder and name of a path; the folder of a bare name is ".". By bytes, as the system does it: a slash
  /// with a combining mark is one character, and a slash all the same.
  static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let directory = path.utf8[..<slash]
    let name = path.utf8[path.utf8.index(after: slash)...]
    return (directory.isEmpty ? "/" : String(Substring(directory)), String(Substring(name)))
  }
}
