import Dispatch
import Glibc
package import StreamCore

/// Files as request bodies: opened before the first byte is sent, read in blocks by the feeder.
package enum FileBody {
  static let block = 256 << 10

  /// A file body as a stream of known length; other bodies as they are.
  static func opened(_ body: RequestBody, _ request: TransportRequest) throws(HTTPError) -> RequestBody {
    guard case .file(let path) = body.content else { return body }
    do throws(HTTPError) {
      return body.replacingContent(with: try opened(path))
    } catch {
      throw error.naming(method: request.method, url: request.url)
    }
  }

  /// A regular file as a stream of known length, which can be read several times.
  package static func opened(_ path: String) throws(HTTPError) -> RequestBody {
    func failure(_ why: String) -> HTTPError {
      HTTPError(
        .readFailed, phase: .file, message: "the file \"\(path)\" can't be sent: \(why)",
        advice: "Check that it exists and can be read")
    }
    // Not blocking: opening a pipe would wait for its writer.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure(unsafe String(cString: strerror(errno))) }
    let file = FileDescriptor(descriptor)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw failure(unsafe String(cString: strerror(errno)))
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw failure("it is no regular file") }
    let length = Int(status.st_size)
    return .source(length: Int64(length), isReplayable: true) {
      FileBodySource(file, path: path, length: length)
    }
  }
}

/// A descriptor that is closed with its last user.
private final class FileDescriptor: Sendable {
  let number: Int32
  init(_ number: Int32) { self.number = number }
  deinit { close(number) }
}

/// Reads a file from its start, whatever else reads it, and never on a thread that runs tasks: a disk may keep
/// it waiting. What is appended meanwhile, as to a log, isn't sent: the length has been announced.
private final class FileBodySource: BodySource, @unchecked Sendable {
  // Sendable: the feeder of one upload is the only one that calls it, and waits for the queue.
  private let file: FileDescriptor
  private let path: String
  private let length: Int
  private let queue = DispatchQueue(label: "penstock.upload")
  private var position = 0

  init(_ file: FileDescriptor, path: String, length: Int) {
    self.file = file
    self.path = path
    self.length = length
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    let (file, position, rest) = (file, position, length - position)
    // A file of no length may have content all the same (/proc), which must not be left out unsaid.
    guard rest > 0 || length == 0 else { return nil }
    let wanted = length == 0 ? FileBody.block : rest
    let result: Result<BodyChunk?, Failure> = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: Self.read(file, at: position, atMost: wanted)) }
    }
    switch result {
    case .success(nil):
      if length == 0 { return nil }
      throw HTTPError(
        .readFailed, phase: .file,
        message: "the file \"\(path)\" ended at byte \(position) of \(length): it was cut while it was sent",
        advice: "Send it again when nothing writes to it")
    case .success(let chunk?):
      self.position += chunk.count
      return chunk
    case .failure(let failure):
      throw HTTPError(
        .readFailed, phase: .file,
        message: "reading \"\(path)\" failed: \(unsafe String(cString: strerror(failure.number)))")
    }
  }

  private struct Failure: Error { let number: Int32 }

  private static func read(
    _ file: FileDescriptor, at position: Int, atMost rest: Int
  ) -> Result<BodyChunk?, Failure> {
    let slab = Slab(capacity: FileBody.block)
    while true {
      let count = unsafe pread(file.number, slab.tail.baseAddress, min(slab.tail.count, rest), position)
      if count < 0, errno == EINTR { continue }
      if count < 0 { return .failure(Failure(number: errno)) }
      if count == 0 { return .success(nil) }
      slab.commit(count)
      return .success(BodyChunk(slab: slab, range: 0..<count))
    }
  }

  func abandon() {}
}
