import CLinux
package import Glibc

/// The calls by which a download meets the disk; tests put slow and failing ones in their place.
package struct FileCalls: Sendable {
  /// Writes at a position: the number of bytes, or the negative error number.
  package var write:
    @Sendable (_ descriptor: Int32, _ vectors: UnsafeBufferPointer<iovec>, _ offset: Int64) -> Int
  /// Brings a file or folder to the disk: 0, or the error number.
  package var sync: @Sendable (_ descriptor: Int32) -> Int32
  /// How much room is left for this user; nil when unknown.
  package var freeBytes: @Sendable (_ descriptor: Int32) -> Int64?
  /// Brings what was written to the disk, in the middle of a download: 0, or the error number.
  package var syncData: @Sendable (_ descriptor: Int32) -> Int32 = { fdatasync($0) == 0 ? 0 : errno }
  /// Has the kernel begin to bring a range to the disk, without waiting for the end of that.
  package var startWritingBack: @Sendable (_ descriptor: Int32, _ range: Range<Int64>) -> Void = {
    _ = cshims_start_writing_back($0, $1.lowerBound, Int64($1.count))
  }
  /// Sets room aside for a file of this size, which stays as long as it is: 0, or the error number.
  package var allocate: @Sendable (_ descriptor: Int32, _ size: Int64) -> Int32 = { descriptor, size in
    // In memory it costs a third of all the writing, and nothing flows meanwhile.
    if memoryFileSystems.contains(cshims_file_system(descriptor)) { return EOPNOTSUPP }
    return cshims_allocate(descriptor, size) == 0 ? 0 : errno
  }

  /// The kernel's numbers of tmpfs and ramfs.
  private static let memoryFileSystems: [Int] = [0x0102_1994, 0x8584_58f6]

  package static let system = FileCalls(
    write: { descriptor, vectors, offset in
      // The kernel takes at most 1,024 pieces at once.
      let count = pwritev(descriptor, vectors.baseAddress, Int32(min(vectors.count, 1024)), Int(offset))
      return count < 0 ? -Int(errno) : count
    },
    sync: { fsync($0) == 0 ? 0 : errno },
    freeBytes: { descriptor in
      var facts = statvfs()
      guard fstatvfs(descriptor, &facts) == 0 else { return nil }
      let free = Int64(clamping: facts.f_bavail).multipliedReportingOverflow(by: Int64(facts.f_frsize))
      return free.overflow ? nil : free.partialValue
    })
}
