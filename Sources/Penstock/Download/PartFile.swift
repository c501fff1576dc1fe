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
    /// What was written and what was found.
    var written = ByteRanges()
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
  private let writeback: Writeback
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
    writeback = Writeback(calls.startWritingBack)
    finalPath = FileName.numbered(wishedPath, number)
    path = finalPath + DownloadPlace.partSuffix
  }

  deinit { closeNow() }

  var sidecar: Sidecar { Sidecar(part: path) }

  /// What has been written, by this run or an earlier one.
  var written: ByteRanges { state.withLock { $0.written } }

  /// Creates or empties the part and locks it. Under `rename` it is the first number whose file isn't there and
  /// whose part nobody writes.
  static func open(
    _ finalPath: String, overwrite: DownloadOptions.Overwrite, queue: FileQueue, calls: FileCalls = .system
  ) throws(HTTPError) -> PartFile {
    for number in 0...highestNumber {
      let name = FileName.numbered(finalPath, number)
      if overwrite == .rename, isThere(name) { continue }
      if let opened = try PartLock.take(name + DownloadPlace.partSuffix, keepingBytes: true) {
        let part = PartFile(
          opened, wishedPath: finalPath, number: number, overwrite: overwrite, queue: queue, calls: calls)
        try part.reset()
        return part
      }
      if overwrite != .rename { throw FileFailure.busy(name) }
    }
    throw FileFailure.exists(finalPath)
  }

  private static let highestNumber = 9999

  /// The part that an earlier run has left, locked and untouched; nil when there is none.
  static func openLeftover(
    _ finalPath: String, overwrite: DownloadOptions.Overwrite, queue: FileQueue, calls: FileCalls = .system
  ) throws(HTTPError) -> PartFile? {
    for number in 0...highestNumber {
      let name = FileName.numbered(finalPath, number)
      if overwrite == .rename, isThere(name) { continue }
      guard isThere(name + DownloadPlace.partSuffix) else { return nil }
      if let opened = try PartLock.take(name + DownloadPlace.partSuffix, keepingBytes: true) {
        return PartFile(
          opened, wishedPath: finalPath, number: number, overwrite: overwrite, queue: queue, calls: calls)
      }
      if overwrite != .rename { throw FileFailure.busy(name) }
    }
    return nil
  }

  /// The record of what is there, where it fits the bytes that are there.
  func readRecord() -> PartRecord? {
    guard let record = sidecar.read(), record.done.end <= size else { return nil }
    return record
  }

  /// Takes over what an earlier run has written.
  func adopt(_ done: ByteRanges) {
    state.withLock { state in
      state.written = done
      state.hasBytes = !done.isEmpty
    }
  }

  /// How long the file is.
  var size: Int64 {
    var facts = stat()
    return fstat(descriptor, &facts) == 0 ? Int64(facts.st_size) : 0
  }

  /// Begins anew. What is said of the old bytes goes first: a record must never speak of bytes that are others.
  func reset() throws(HTTPError) {
    if sidecar.isThere {
      sidecar.remove()
      try syncDirectory(of: path, onFailure: {})
    }
    guard ftruncate(descriptor, 0) == 0 else { throw FileFailure.make(path, errno) }
    state.withLock { state in
      state.written = ByteRanges()
      state.hasBytes = false
    }
  }

  /// Makes it exactly so long, and gives back what was set aside beyond.
  func cut(to size: Int64) throws(HTTPError) {
    guard ftruncate(descriptor, Int(size)) == 0 else { throw FileFailure.make(path, errno) }
  }

  /// Gives the file the time of the server's.
  func set(time: HTTPDate) {
    let second = timespec(tv_sec: Int(time.secondsSinceEpoch), tv_nsec: 0)
    let times = [second, second]
    _ = futimens(descriptor, times)
  }

  /// Sets room aside, where the file system can; it fails when there surely isn't enough.
  func allocate(_ total: Int64) throws(HTTPError) {
    let number = calls.allocate(descriptor, total)
    if number == ENOSPC || number == EDQUOT { throw FileFailure.make(path, number) }
  }

  /// Brings what has been written to the disk; may run beside writes.
  func syncData() throws(HTTPError) {
    let number = calls.syncData(descriptor)
    if number != 0 { throw FileFailure.make(path, number) }
  }

  /// Reads back: how many bytes, or the error number.
  func read(into buffer: inout [UInt8], count: Int, at offset: Int64) -> (count: Int, number: Int32) {
    let target = descriptor
    while true {
      let read = buffer.withUnsafeMutableBytes {
        pread(target, $0.baseAddress, min(count, $0.count), Int(offset))
      }
      if read >= 0 { return (read, EIO) }
      if errno != EINTR { return (0, errno) }
    }
  }

  private static func isThere(_ path: String) -> Bool {
    var facts = stat()
    return lstat(path, &facts) == 0
  }

  /// Fails when the disk surely has too little room.
  func checkSpace(for total: Int64?) throws(HTTPError) {
    var facts = stat()
    let held = fstat(descriptor, &facts) == 0 ? Int64(facts.st_blocks) * 512 : 0
    guard let total, let free = calls.freeBytes(descriptor), free < total - held else { return }
    throw FileFailure.tooLittleSpace(path, needed: total - held, free: free)
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
      if written > 0 {
        let range = position - Int64(written)..<position
        state.withLock { state in
          state.hasBytes = true
          state.written.insert(range)
        }
        writeback.wrote(range, to: target)
      }
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
      // The name may not last: the failed download leaves its part, as with any other fault of the disk.
      try self.syncDirectory(of: final) { _ = Glibc.rename(final, self.path) }
      self.sidecar.remove()
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

  private func syncDirectory(of file: String, onFailure undo: () -> Void) throws(HTTPError) {
    let directory = DownloadPlace.split(file).directory
    let opened = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that may be written and not read can't be synced.
    guard opened >= 0 else { return }
    defer { Glibc.close(opened) }
    let number = calls.sync(opened)
    // Some file systems can't sync folders; that they say so is no failure.
    guard number != 0, number != EINVAL, number != EOPNOTSUPP else { return }
    undo()
    throw FileFailure.make(directory, number)
  }

  /// The bad bytes get a name of their own: "NAME.bad". Returns it.
  func setAside() async throws(HTTPError) -> String {
    try await queue.run { () throws(HTTPError) in
      let aside = self.finalPath + DownloadPlace.badSuffix
      guard Glibc.rename(self.path, aside) == 0 else { throw FileFailure.make(aside, errno) }
      self.sidecar.remove()
      self.closeNow()
      return aside
    }
  }

  /// Gives the lock up and touches nothing.
  func leave() async {
    _ = try? await queue.run { () throws(HTTPError) in self.closeNow() }
  }

  /// Gives the file up. After a fault of the disk what has come is kept: it may be all there is.
  func close(keepingBytes: Bool) async {
    _ = try? await queue.run { () throws(HTTPError) in
      let (descriptor, hasBytes) = self.state.withLock { ($0.descriptor, $0.hasBytes) }
      if descriptor >= 0, !(keepingBytes && hasBytes), PartLock.holds(descriptor, self.path) {
        self.sidecar.remove()
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
    if left >= 0 { writeback.close(left) }
  }
}
