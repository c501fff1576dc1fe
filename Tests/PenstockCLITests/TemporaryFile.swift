import Glibc

/// A file that holds these bytes, as long as it is kept.
final class TemporaryFile {
  let path: String

  init(_ bytes: [UInt8]) throws {
    var template = Array("/tmp/penstock-test-\(String(repeating: "X", count: 6))".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0, write(descriptor, bytes, bytes.count) == bytes.count else {
      throw TemporaryFileError()
    }
    close(descriptor)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { unlink(path) }
}

struct TemporaryFileError: Error {}
