import Glibc

/// Files that are replaced as a whole: who looks finds the old content or the new one, never half of it.
enum AtomicFile {
  /// Who may read what is written.
  enum Access {
    /// The owner alone, whatever the process's mask takes away.
    case ownerOnly
    /// All whom the process's mask leaves.
    case byMask
  }

  /// What has come to the disk when the content is replaced.
  enum Durability {
    /// Nothing need have: a power cut may lose the new content.
    case none
    /// The content: a power cut may bring the old one back.
    case content
    /// The content and its name.
    case contentAndName
  }

  /// Writes beside the file and puts that in its place; a link in its place is replaced, not followed. Waits for
  /// the disk. `temporary` is the name until then, by default one that nobody else has; what is there under that
  /// name fails it. Returns 0, or the error number: then nothing is left but the old file.
  static func replace(
    _ path: String, with bytes: [UInt8], access: Access, durability: Durability, temporary: String? = nil
  ) -> Int32 {
    let temporary = temporary ?? "\(path).\(getpid()).\(UInt32.random(in: 0 ... .max))~"
    let mode: mode_t = access == .ownerOnly ? 0o600 : 0o666
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { return errno }
    var number = write(bytes, to: descriptor)
    if number == 0, access == .ownerOnly, fchmod(descriptor, mode) != 0 { number = errno }
    if number == 0, durability != .none, fsync(descriptor) != 0 { number = errno }
    close(descriptor)
    if number == 0, rename(temporary, path) != 0 { number = errno }
    if number != 0 {
      unlink(temporary)
    } else if durability == .contentAndName {
      syncFolder(of: path)
    }
    return number
  }

  /// Writes all of it: 0, or the error number.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var position = 0
    while position < bytes.count {
      let count = bytes[position...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        position += count
      } else if count == 0 || errno != EINTR {
        return count == 0 ? EIO : errno
      }
    }
    return 0
  }

  /// As far as it can be: a folder that may be written and not read can't be.
  private static func syncFolder(of path: String) {
    let descriptor = open(DownloadPlace.split(path).directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = fsync(descriptor)
    close(descriptor)
  }
}
