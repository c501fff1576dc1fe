import Dispatch
import Glibc
import Penstock
import Synchronization

/// The folder that bodies go to. Files appear under their names when they are whole; writing happens on a few
/// threads of its own.
final class BatchFolder: Sendable {
  let path: String
  private let queues = (0..<4).map { DispatchQueue(label: "penstock.batch.file.\($0)") }
  private let count = Atomic<Int>(0)

  /// Makes the folder where it isn't there.
  init(_ path: String) throws(CommandFailure) {
    self.path = path.utf8.last == UInt8(ascii: "/") && path.utf8.count > 1 ? String(path.dropLast()) : path
    var facts = stat()
    if stat(path, &facts) != 0 {
      if mkdir(path, 0o777) != 0 { throw Self.failure(path, errno) }
    } else if facts.st_mode & S_IFMT != S_IFDIR {
      throw Self.failure(path, ENOTDIR)
    }
    if access(path, W_OK | X_OK) != 0 { throw Self.failure(path, errno) }
  }

  private static func failure(_ path: String, _ number: Int32) -> CommandFailure {
    CommandFailure(
      status: .writeFailed,
      message: "can't write to the folder \(UsageError.quote(path)): \(SystemErrorText.text(for: number))")
  }

  /// The name of a file that an input doesn't name: the SHA-256 of the URL.
  static func name(of url: String) -> String {
    (try? Digest.of(Array(url.utf8), .sha256).hex) ?? FolderName.plain(url)
  }

  func file(named name: String) -> BatchFile {
    let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
    return BatchFile(
      final: path + "/" + name, temporary: path + "/.penstock-\(getpid())-\(number).part",
      queue: queues[number % queues.count])
  }
}

private enum FolderName {
  /// Letters and digits of a text.
  static func plain(_ text: String) -> String {
    String(
      text.unicodeScalars.map {
        $0.isASCII && ($0.properties.isAlphabetic || $0.value < 0x3A) ? Character($0) : "_"
      })
  }
}

/// One file: bytes are gathered, written on the file's queue, and get their name at the end.
actor BatchFile {
  /// So much is gathered before it is written.
  private static let gathering = 256 << 10

  private let final: String
  private let temporary: String
  private let queue: DispatchQueue
  private var chunks: [BodyChunk] = []
  private var bytes = 0
  private var descriptor: Int32 = -1

  init(final: String, temporary: String, queue: DispatchQueue) {
    self.final = final
    self.temporary = temporary
    self.queue = queue
  }

  func write(_ chunk: BodyChunk) async throws(HTTPError) {
    chunks.append(chunk)
    bytes += chunk.count
    if bytes >= Self.gathering { try await flush(isLast: false) }
  }

  /// The whole file is under its name; returns that.
  func finish() async throws(HTTPError) -> String {
    try await flush(isLast: true)
    return final
  }

  /// Nothing is left of it.
  func discard() async {
    guard descriptor >= 0 else { return }
    let (descriptor, temporary) = (descriptor, temporary)
    self.descriptor = -1
    queue.async {
      close(descriptor)
      unlink(temporary)
    }
  }

  private func flush(isLast: Bool) async throws(HTTPError) {
    let (known, pieces, final, temporary) = (descriptor, chunks, final, temporary)
    chunks = []
    bytes = 0
    let result: Result<Int32, FileProblem> = await withUnsafeContinuation { continuation in
      queue.async {
        let result: Result<Int32, FileProblem>
        do throws(FileProblem) {
          result = .success(try Self.put(pieces, known, final, temporary, isLast: isLast))
        } catch {
          result = .failure(error)
        }
        continuation.resume(returning: result)
      }
    }
    switch result {
    case .success(let opened): descriptor = opened
    case .failure(let problem):
      descriptor = -1
      throw problem.error(final)
    }
  }

  private struct FileProblem: Error {
    let number: Int32

    func error(_ path: String) -> HTTPError {
      HTTPError(
        number == ENOSPC || number == EDQUOT ? .diskFull : .writeFailed, phase: .file,
        message: "\"\(path)\" can't be written: \(SystemErrorText.text(for: number))")
    }
  }

  /// On the queue. Closes and removes what was begun when it fails.
  private static func put(
    _ pieces: [BodyChunk], _ known: Int32, _ final: String, _ temporary: String, isLast: Bool
  ) throws(FileProblem) -> Int32 {
    var descriptor = known
    if descriptor < 0 {
      descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
      guard descriptor >= 0 else { throw FileProblem(number: errno) }
    }
    do throws(FileProblem) {
      do throws(OutputError) {
        try DescriptorWriter(descriptor: descriptor).write(pieces: pieces.map { .chunk($0) })
      } catch {
        if case .failed(let number) = error { throw FileProblem(number: number) }
        throw FileProblem(number: EPIPE)
      }
      guard isLast else { return descriptor }
      if rename(temporary, final) != 0 {
        // The name may lead into folders that aren't there yet.
        makeFolders(final)
        if rename(temporary, final) != 0 { throw FileProblem(number: errno) }
      }
      close(descriptor)
      return -1
    } catch {
      close(descriptor)
      unlink(temporary)
      throw error
    }
  }

  private static func makeFolders(_ path: String) {
    var position = path.utf8.startIndex
    while let slash = path.utf8[position...].dropFirst().firstIndex(of: UInt8(ascii: "/")) {
      mkdir(String(path[..<slash]), 0o777)
      position = slash
    }
  }
}
