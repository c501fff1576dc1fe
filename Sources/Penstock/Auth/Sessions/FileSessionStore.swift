public import StreamCore

/// Keeps a session in a file of mode 0600: replaced in one step, with a lock (`FILE.lock`) between processes.
///
/// A file that its group or the world may read or write is refused with `HTTPError.Kind.readFailed`, and so is one
/// that holds no session. The lock is held during a refresh, so that of many processes one refreshes and the
/// others find the new session.
public struct FileSessionStore: SessionStore {
  private let file: SecretFileAccess

  /// A path in a folder that is there.
  public init(path: String) { file = SecretFileAccess(path: path) }

  /// True.
  public var isShared: Bool { true }

  /// Nil when there is no file.
  public func load() async throws(HTTPError) -> Session? {
    guard let bytes = try file.read() else { return nil }
    guard let session = Session(encoded: bytes) else {
      throw HTTPError(
        .readFailed, phase: .file, message: "\"\(file.path)\" holds no session",
        advice: "Remove it and log in again")
    }
    return session
  }

  /// Throws `HTTPError.Kind.writeFailed`, and the file is as it was.
  public func save(_ session: Session) async throws(HTTPError) { try file.write(session.encoded) }

  /// Throws `HTTPError.Kind.writeFailed` when it can't be removed.
  public func clear() async throws(HTTPError) { try file.remove() }

  /// Waits for the lock without blocking a thread.
  public func exclusively<Value: Sendable>(
    _ body: @Sendable () async throws(HTTPError) -> Value
  ) async throws(HTTPError) -> Value { try await file.locked(body) }
}
