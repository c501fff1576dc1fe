import Glibc

/// "NAME.part.json": the record beside a part. It is replaced as a whole, so that whoever looks finds the old
/// one or the new one. All of it waits for the disk: call it on a `FileQueue`.
struct Sidecar: Sendable {
  let path: String

  /// No record is larger: it holds some dozens of ranges.
  private static let limit = 4 << 20
  private static let temporarySuffix = "~"

  init(part: String) {
    let stem = part.utf8.dropLast(DownloadPlace.partSuffix.utf8.count)
    path = String(Substring(stem)) + DownloadPlace.sidecarSuffix
  }

  init(path: String) { self.path = path }

  func read() -> PartRecord? {
    let opened = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard opened >= 0 else { return nil }
    defer { close(opened) }
    var facts = stat()
    guard fstat(opened, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_size <= Self.limit else {
      return nil
    }
    var bytes: [UInt8] = []
    let number = SmallFile.append(to: &bytes, from: opened, limit: Self.limit)
    return number == 0 ? PartRecord.decode(bytes) : nil
  }

  /// Whether there is anything under its name.
  var isThere: Bool {
    var facts = stat()
    return lstat(path, &facts) == 0
  }

  /// Writes a new one in the place of the old. `isDurable`: it survives a power cut when this returns.
  func write(_ record: PartRecord, isDurable: Bool) throws(HTTPError) {
    guard let bytes = record.encoded() else { return }
    let temporary = path + Self.temporarySuffix
    unlink(temporary)
    let number = AtomicFile.replace(
      path, with: bytes, access: .byMask, durability: isDurable ? .contentAndName : .none,
      temporary: temporary)
    if number != 0 { throw FileFailure.make(path, number) }
  }

  func remove() {
    unlink(path)
    unlink(path + Self.temporarySuffix)
  }

  /// The final name of a part in a folder whose record is about this URL; for downloads whose name the server
  /// gives.
  static func findName(in directory: String, url: String, guess: String) -> String? {
    let base = directory.isEmpty ? "." : directory
    let wanted = Redaction.url(url)
    func isAbout(_ name: String) -> Bool {
      Sidecar(path: base + "/" + name + DownloadPlace.sidecarSuffix).read()?.url == wanted
    }
    if isAbout(guess) { return guess }
    guard let folder = opendir(base) else { return nil }
    defer { closedir(folder) }
    var looked = 0
    while looked < 1000, let entry = readdir(folder) {
      // In place: an entry is shorter than its type, so a copy of it would read beyond the folder's buffer.
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
      }
      guard name.hasSuffix(DownloadPlace.sidecarSuffix) else { continue }
      looked += 1
      let final = String(name.dropLast(DownloadPlace.sidecarSuffix.count))
      if !final.isEmpty, isAbout(final) { return final }
    }
    return nil
  }
}
