import Dispatch
import Glibc
import Synchronization

/// "NAME.part": where the bytes of a download go until they are whole.
///
/// All calls that may wait for the disk run on a queue of their own, never on the loop or on the threads that
/// run tasks.
final class PartFile: Sendable {
  let path: String
  private let finalPath: String
  private let overwrite: DownloadOptions.Overwrite
  private let descriptor: Mutex<Int32>
  /// Serial: writes keep their order, and closing comes after them.
  let queue = DispatchQueue(label: "penstock.file")

  /// Creates the file and locks it, so that no other process writes it meanwhile.
  init(finalPath: String, overwrite: DownloadOptions.Overwrite) throws(HTTPError) {
    self.finalPath = finalPath
    self.overwrite = overwrite
    path = finalPath + DownloadPlace.partSuffix
    let opened = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard opened >= 0 else { throw FileFailure.make(path, errno) }
    guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
      Glibc.close(opened)
      throw FileFailure.make(path, EBUSY, "another download is writing it")
    }
    guard ftruncate(opened, 0) == 0 else {
      let number = errno
      Glibc.close(opened)
      throw FileFailure.make(path, number)
    }
    descriptor = Mutex(opened)
  }

  deinit {
    let left = descriptor.withLock { $0 }
    if left >= 0 { Glibc.close(left) }
  }

  /// Fails when the disk surely has too little room.
  func checkSpace(for total: Int64?) throws(HTTPError) {
    guard let total else { return }
    var facts = statvfs()
    guard fstatvfs(descriptor.withLock { $0 }, &facts) == 0 else { return }
    let free = Int64(clamping: facts.f_bavail).multipliedReportingOverflow(by: Int64(facts.f_frsize))
    guard !free.overflow, free.partialValue < total else { return }
    throw FileFailure.make(
      path, ENOSPC, "\(total) bytes are to come and \(free.partialValue) are free")
  }

  /// Writes all chunks at a position. On `queue`.
  func write(_ chunks: [BodyChunk], at offset: Int64) throws(HTTPError) {
    let target = descriptor.withLock { $0 }
    var vectors = chunks.map { chunk in
      chunk.withUnsafeBytes {
        iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
      }
    }
    var position = offset
    var first = 0
    // The chunks keep the memory that the vectors point to.
    let number: Int32 = withExtendedLifetime(chunks) {
      while first < vectors.count {
        let written = vectors[first...].withUnsafeBufferPointer {
          pwritev(target, $0.baseAddress, Int32(min($0.count, 1024)), Int(position))
        }
        if written < 0 {
          if errno == EINTR { continue }
          return errno
        }
        position += Int64(written)
        var rest = written
        while first < vectors.count, rest >= vectors[first].iov_len {
          rest -= vectors[first].iov_len
          first += 1
        }
        if rest > 0 {
          vectors[first].iov_base = vectors[first].iov_base.map { $0 + rest }
          vectors[first].iov_len -= rest
        }
      }
      return 0
    }
    if number != 0 { throw FileFailure.make(path, number) }
  }

  /// Syncs the file, gives it its final name, and syncs the folder. Returns the name.
  func commit() async throws(HTTPError) -> String {
    try await onQueue { () throws(HTTPError) in
      let target = self.descriptor.withLock { $0 }
      guard fsync(target) == 0 else { throw FileFailure.make(self.path, errno) }
      let final = try self.rename()
      self.closeNow()
      try Self.syncDirectory(of: final)
      return final
    }
  }

  private func rename() throws(HTTPError) -> String {
    switch overwrite {
    case .replace:
      guard Glibc.rename(path, finalPath) == 0 else { throw FileFailure.make(finalPath, errno) }
      return finalPath
    case .never:
      guard try linkInPlace(finalPath) else { throw FileFailure.exists(finalPath) }
      return finalPath
    case .rename:
      var number = 0
      while true {
        let name = number == 0 ? finalPath : FileName.numbered(finalPath, number)
        if try linkInPlace(name) { return name }
        number += 1
        if number > 9999 { throw FileFailure.exists(finalPath) }
      }
    }
  }

  /// Renames without replacing; false when the name is taken.
  private func linkInPlace(_ name: String) throws(HTTPError) -> Bool {
    // A link never replaces, unlike a rename.
    if link(path, name) == 0 {
      unlink(path)
      return true
    }
    switch errno {
    case EEXIST: return false
    case EPERM, EOPNOTSUPP, EMLINK: break
    case let number: throw FileFailure.make(name, number)
    }
    // A file system without links: look first; two processes at once can still collide.
    if access(name, F_OK) == 0 { return false }
    guard Glibc.rename(path, name) == 0 else { throw FileFailure.make(name, errno) }
    return true
  }

  private static func syncDirectory(of path: String) throws(HTTPError) {
    let directory = DownloadPlace.split(path).directory
    let opened = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { return }
    defer { Glibc.close(opened) }
    // Some file systems can't sync folders; that they say EINVAL is no failure.
    guard fsync(opened) == 0 || errno == EINVAL else { throw FileFailure.make(directory, errno) }
  }

  /// Gives the file up.
  func close(removing: Bool) async {
    _ = try? await onQueue { () throws(HTTPError) in
      // Not after a rename: the name may belong to another download by then.
      if removing, self.descriptor.withLock({ $0 }) >= 0 { unlink(self.path) }
      self.closeNow()
    }
  }

  private func closeNow() {
    let left = descriptor.withLock { descriptor in
      defer { descriptor = -1 }
      return descriptor
    }
    if left >= 0 { Glibc.close(left) }
  }

  private func onQueue<Value: Sendable>(
    _ body: @escaping @Sendable () throws(HTTPError) -> Value
  ) async throws(HTTPError) -> Value {
    let result: Result<Value, HTTPError> = await withCheckedContinuation { continuation in
      queue.async {
        let result: Result<Value, HTTPError>
        do throws(HTTPError) {
          result = .success(try body())
        } catch {
          result = .failure(error)
        }
        continuation.resume(returning: result)
      }
    }
    return try result.get()
  }
}
