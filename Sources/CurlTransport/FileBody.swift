import Glibc
import StreamCore
import Synchronization

/// Files as request bodies: opened before the first byte is sent, read in blocks by the feeder.
enum FileBody {
  static let block = 256 << 10

  /// A file body as a stream of known length; other bodies as they are.
  static func opened(_ body: RequestBody, _ request: TransportRequest) throws(HTTPError) -> RequestBody {
    guard case .file(let path) = body.content else { return body }
    func failure(_ why: String) -> HTTPError {
      HTTPError(
        .readFailed, phase: .file, message: "the file \"\(path)\" can't be sent: \(why)",
        advice: "Check that it exists and can be read", method: request.method, url: request.url)
    }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(unsafe String(cString: strerror(errno))) }
    let file = FileDescriptor(descriptor)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw failure(unsafe String(cString: strerror(errno)))
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw failure("it is no regular file") }
    return .source(length: Int64(status.st_size), isReplayable: true) { FileBodySource(file, path: path) }
  }
}

/// A descriptor that is closed with its last user.
private final class FileDescriptor: Sendable {
  let number: Int32
  init(_ number: Int32) { self.number = number }
  deinit { close(number) }
}

/// Reads a file from its start, whatever else reads it.
private final class FileBodySource: BodySource {
  private let file: FileDescriptor
  private let path: String
  private let position = Atomic<Int>(0)

  init(_ file: FileDescriptor, path: String) {
    self.file = file
    self.path = path
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    let slab = Slab(capacity: FileBody.block)
    while true {
      let at = position.load(ordering: .relaxed)
      let count = unsafe pread(file.number, slab.tail.baseAddress, slab.tail.count, at)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw HTTPError(
          .readFailed, phase: .file,
          message: "reading \"\(path)\" failed: \(unsafe String(cString: strerror(errno)))")
      }
      if count == 0 { return nil }
      slab.commit(count)
      position.store(at + count, ordering: .relaxed)
      return BodyChunk(slab: slab, range: 0..<count)
    }
  }

  func abandon() {}
}
