import Foundation
import Glibc

/// A terminal for a child process, and what the child has written to it.
final class PseudoTerminal {
  private let controller: Int32
  let device: FileHandle

  init(columns: UInt16, rows: UInt16) throws {
    controller = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    // Glibc's module lacks `unlockpt` and `ptsname`; these are what they do.
    var unlocked: Int32 = 0
    var number: UInt32 = 0
    guard controller >= 0, ioctl(controller, 0x4004_5431, &unlocked) == 0,
      ioctl(controller, 0x8004_5430, &number) == 0
    else { throw TemporaryFileError() }
    let name = "/dev/pts/\(number)"
    let opened = open(name, O_RDWR | O_NOCTTY)
    guard opened >= 0 else { throw TemporaryFileError() }
    device = FileHandle(fileDescriptor: opened, closeOnDealloc: true)
    resize(columns: columns, rows: rows)
  }

  deinit { close(controller) }

  func resize(columns: UInt16, rows: UInt16) {
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
  }

  /// All that is written until the child has closed it; the own device must be closed by then.
  func readAll() async -> String {
    let controller = controller
    return await withCheckedContinuation { continuation in
      Thread {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
          let count = read(controller, &buffer, buffer.count)
          if count <= 0 { break }
          bytes += buffer[..<count]
        }
        continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
      }.start()
    }
  }
}
