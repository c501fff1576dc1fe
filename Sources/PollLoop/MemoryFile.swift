import CLinux
import Glibc
import Synchronization

/// A file without a place on disk: gone with its last reference or with the process, whatever ends it.
package final class MemoryFile: Sendable {
  private static let count = Atomic<UInt64>(0)

  private let descriptor: Int32
  /// A path by which this process can open it. No two files of a process ever have the same path, though
  /// descriptors are used again: libcurl tells connections and cached roots apart by path.
  package let path: String

  /// Nil when the system has no descriptor or no memory left, or no `/proc`.
  package init?(_ bytes: [UInt8]) {
    let descriptor = unsafe cshims_memfd_create("penstock")
    guard descriptor >= 0 else { return nil }
    self.descriptor = descriptor
    let number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
    path = Self.path(number, descriptor)
    guard Self.write(bytes, to: descriptor), unsafe access(path, R_OK) == 0 else {
      _ = close(descriptor)
      return nil
    }
  }

  deinit { _ = close(descriptor) }

  /// The number in dual digits, "./" for 0 and "/" for 1: the kernel passes over both.
  static func path(_ number: UInt64, _ descriptor: Int32) -> String {
    let digits = String(number, radix: 2).map { $0 == "0" ? "./" : "/" }
    return "/proc/self/fd/" + digits.joined() + String(descriptor)
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    unsafe bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        guard let start = buffer.baseAddress else { return true }
        let count = unsafe Glibc.write(descriptor, start + done, buffer.count - done)
        if count > 0 {
          done += count
        } else if count < 0, errno == EINTR {
          continue
        } else {
          return false
        }
      }
      return true
    }
  }
}
