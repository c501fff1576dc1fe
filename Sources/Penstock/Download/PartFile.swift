import CLinux
import Glibc
import Synchronization

/// "NAME.part": where the bytes of a download go until they are whole.
///
/// It is locked while it is written, so that two downloads never share one. What has no `async` here may wait
/// for the disk and belongs on `queue`.
final class PartFile: Sendable {
  private struct State: Sendable {
    /// -1 once it is closed.
    var descriptor: Int32
    /// Whether any byte was written.
    var hasBytes = false
  }

  /// The part's own path.
  let path: String
  /// The name that it will get; another number may come of it under `rename`.
  let finalPath: String
  private let number: Int
  private let wishedPath: String
  private let overwrite: DownloadOptions.Overwrite
  private let state: Mutex<State>
  private let calls: FileCalls
  /// Serial: writes keep their order, and closing comes after them.
  let queue: FileQueue

  private init(
    _ opened: Int32, wishedPath: String, number: Int, overwrite: DownloadOptions.Overwrite, queue: FileQueue,
    calls: FileCalls
  ) {
    state = Mutex(State(descriptor: opened))
    self.wishedPath = wishedPath
    self.number = number
    self.overwrite = overwrite
    self.queue = queue
    self.calls = calls
    finalPath = FileName.numbered(wishedPath, number)
    path = finalPath + DownloadPlace.partSuffix
  }

  deinit { closeNow() }

  /// Creates or empties the part and locks it. Under `rename` it is the first number whose file isn't there and
  /// whose part nobody writes.
  static func open(
    _ finalPath: String, overwrite: DownloadOptions.Overwrite, queue: FileQueue, calls: FileCalls = .system
  ) throws(HTTPError) -> PartFile {
    for number in 0...highestNumber {
      let name = FileName.numbered(finalPath, number)
      if overwrite == .rename, isThere(name) { continue }
      if let opened = try PartLock.take(name + DownloadPlace.partSuffix) {
        return PartFile(
          opened, wishedPath: finalPath, number: number, overwrite: overwrite, queue: queue, calls: calls)
      }
      if overwrite != .rename { throw FileFailure.busy(name) }
    }
    throw FileFailure.exists(finalPath)
  }

  private static let highestNumber = 9999

  private static func isThere(_ path: String) -> Bool {
    var facts = stat()
    return lstat(path, &facts) == 0
  }

  /// Fails when the disk surely has too little room.
  func checkSpace(for total: Int64?) throws(HTTPError) {
    guard let total, let free = calls.freeBytes(descriptor), free < total else { return }
    throw FileFailure.tooLittleSpace(path, needed: total, free: free)
  }

  private var descriptor: Int32 { state.withLock { $0.descriptor } }

  /// Writes all chunks at a position.
  func write(_ chunks: [BodyChunk], at offset: Int64) throws(HTTPError) {
    let target = descriptor
    var vectors = chunks.map { chunk in
      chunk.withUnsafeBytes {
        iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
      }
    }
    // The chunks keep the memory that the vectors point to.
    let number = withExtendedLifetime(chunks) { writeAll(&vectors, to: target, at: offset) }
    if number != 0 { throw FileFailure.make(path, number) }
  }

  /// 0, or the error number.
  private func writeAll(_ vectors: inout [iovec], to target: Int32, at offset: Int64) -> Int32 {
    var position = offset
    var first = 0
    while first < vectors.count {
      let written = vectors[first...].withUnsafeBufferPointer { calls.write(target, $0, position) }
      if written == -Int(EINTR) { continue }
      if written < 0 { return Int32(-written) }
      position += Int64(written)
      var rest = written
      while first < vectors.count, rest >= vectors[first].iov_len {
        rest -= vectors[first].iov_len
        first += 1
      }
      if written > 0 { state.withLock { $0.hasBytes = true } }
      guard first < vectors.count else { break }
      // Nothing taken and no reason given: trying again could go on for ever.
      if written == 0 { return EIO }
      vectors[first].iov_base = vectors[first].iov_base.map { $0 + rest }
      vectors[first].iov_len -= rest
    }
    return 0
  }

  /// Syncs the file, gives it its final name, and syncs the folder. Returns the name. A task that was cancelled
  /// before the file has its name never gives it one.
  func commit() async throws(HTTPError) -> String {
    try await queue.run { () throws(HTTPError) in
      let number = self.calls.sync(self.descriptor)
      if number != 0 { throw FileFailure.make(self.path, number) }
    }
    if Task.isCancelled { throw HTTPError.cancelled(phase: .file) }
    return try await queue.run { () throws(HTTPError) in
      guard PartLock.holds(self.descriptor, self.path) else {
        throw FileFailure.make(self.path, ESTALE, "something else has taken its place")
      }
      let final = try self.rename()
      try self.syncDirectory(of: final)
      self.closeNow()
      return final
    }
  }

  private func rename() throws(HTTPError) -> String {
    switch overwrite {
    case .replace:
      guard Glibc.rename(path, finalPath) == 0 else { throw FileFailure.make(finalPath, errno) }
      return finalPath
    case .never:
      guard try renameToNew(finalPath) else { throw FileFailure.exists(finalPath) }
      return finalPath
    case .rename:
      for number in number...Self.highestNumber {
        let name = FileName.numbered(wishedPath, number)
        if try renameToNew(name) { return name }
      }
      throw FileFailure.exists(wishedPath)
    }
  }

  /// Renames without replacing; false when the name is taken.
  private func renameToNew(_ name: String) throws(HTTPError) -> Bool {
    if cshims_rename_new(path, name) == 0 { return true }
    switch errno {
    case EEXIST: return false
    case EINVAL, ENOSYS, EOPNOTSUPP: break
    case let number: throw FileFailure.make(name, number)
    }
    // A file system that can't: a link never replaces either.
    if link(path, name) == 0 {
      unlink(path)
      return true
    }
    switch errno {
    case EEXIST: return false
    case EPERM, EOPNOTSUPP, EMLINK, ENOSYS: break
    case let number: throw FileFailure.make(name, number)
    }
    // Nor links: look first; two processes at once can still collide.
    if Self.isThere(name) { return false }
    guard Glibc.rename(path, name) == 0 else { throw FileFailure.make(name, errno) }
    return true
  }

  private func syncDirectory(of final: String) throws(HTTPError) {
    let directory = DownloadPlace.split(final).directory
    let opened = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that may be written and not read can't be synced.
    guard opened >= 0 else { return }
    defer { Glibc.close(opened) }
    let number = calls.sync(opened)
    // Some file systems can't sync folders; that they say so is no failure.
    guard number != 0, number != EINVAL, number != EOPNOTSUPP else { return }
    // The name may not last: the failed download leaves its part, as with any other fault of the disk.
    _ = Glibc.rename(final, path)
    throw FileFailure.make(directory, number)
  }

  /// Gives the file up. After a fault of the disk what has come is kept: it may be all there is.
  func close(keepingBytes: Bool) async {
    _ = try? await queue.run { () throws(HTTPError) in
      let (descriptor, hasBytes) = self.state.withLock { ($0.descriptor, $0.hasBytes) }
      if descriptor >= 0, !(keepingBytes && hasBytes), PartLock.holds(descriptor, self.path) {
        unlink(self.path)
      }
      self.closeNow()
    }
  }

  private func closeNow() {
    let left = state.withLock { state in
      defer { state.descriptor = -1 }
      return state.descriptor
    }
    if left >= 0 { Glibc.close(left) }
  }
}
