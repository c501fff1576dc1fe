import Synchronization

/// A file that gets the bytes of a body. It has its final name only when it is complete and on the disk; until then
/// its bytes are in "NAME.part", which a sink that is cancelled takes away.
///
/// The disk is written to by a thread of its own; a slow one holds the reader.
public final class FileSink: ByteSink {
  private struct State: Sendable {
    var file: PartFile?
    var writer: FileWriter?
    var bytes: Int64 = 0
    var name: String?
  }

  /// Bytes that wait for the disk.
  private static let limit = 4 << 20

  private let path: String
  private let overwrite: DownloadOptions.Overwrite
  private let state = Mutex(State())

  /// A sink to a file; it is opened with the first chunk, and throws then what is wrong with it.
  ///
  /// - Parameter overwrite: what to do where the file exists: fail, which is the default, add a number to the name, or
  ///   replace it.
  public init(_ path: String, overwrite: DownloadOptions.Overwrite = .never) {
    self.path = path
    self.overwrite = overwrite
  }

  /// The file's name, once it is complete: another one than was asked for where a number was added.
  public var name: String? { state.withLock { $0.name } }
  /// How many bytes were taken.
  public var bytes: Int64 { state.withLock { $0.bytes } }

  /// Hands the chunk to the disk's thread; returns when less than 4 MiB wait for the disk.
  ///
  /// - Throws: `fileExists` where the name is taken and may not be, `writeFailed`, `diskFull` and `diskFailed` for what
  ///   the disk says, of this or an earlier chunk.
  public func write(_ chunk: BodyChunk) async throws(HTTPError) {
    let (_, writer) = try await opened()
    try await writer.write(chunk)
    state.withLock { $0.bytes += Int64(chunk.count) }
  }

  /// Writes what is left, syncs the file and gives it its name. Where that fails, nothing stays.
  ///
  /// - Throws: as `write(_:)` does.
  public func finish() async throws(HTTPError) {
    let (file, writer) = try await opened()
    do throws(HTTPError) {
      try await writer.finish()
      let name = try await file.commit()
      state.withLock { $0.name = name }
      forget()
    } catch {
      // Here it can be waited for: whoever asks for the name next finds it free.
      forget()
      await writer.stop()
      await file.close(keepingBytes: false)
      throw error
    }
  }

  /// Takes the part away, a little later.
  public func cancel() {
    let (file, writer) = state.withLock { state in
      defer {
        state.file = nil
        state.writer = nil
      }
      return (state.file, state.writer)
    }
    guard let file, let writer else { return }
    Task {
      await writer.stop()
      await file.close(keepingBytes: false)
    }
  }

  private func forget() {
    state.withLock { state in
      state.file = nil
      state.writer = nil
    }
  }

  private func opened() async throws(HTTPError) -> (PartFile, FileWriter) {
    if let file = state.withLock({ $0.file }), let writer = state.withLock({ $0.writer }) {
      return (file, writer)
    }
    let (path, overwrite, queue) = (path, overwrite, FileQueue())
    let file = try await queue.run { () throws(HTTPError) in
      try PartFile.open(path, overwrite: overwrite, queue: queue)
    }
    let writer = FileWriter(file, limit: Self.limit)
    state.withLock { state in
      state.file = file
      state.writer = writer
    }
    return (file, writer)
  }
}

extension ResponseBody {
  /// Writes the whole body to a file, which has its name only when it is complete; see `FileSink`.
  ///
  /// - Returns: how many bytes it has.
  /// - Throws: `HTTPError.Kind.fileExists`, `writeFailed`, `diskFull` and `diskFailed` for what the disk says, and
  ///   whatever ended the body. Then there is no file.
  @discardableResult
  public func written(
    to path: String, overwrite: DownloadOptions.Overwrite = .never
  ) async throws(HTTPError) -> Int64 {
    let sink = FileSink(path, overwrite: overwrite)
    _ = try await tee(to: sink).drain()
    return sink.bytes
  }
}
