import Glibc
public import StreamCore
import Synchronization

/// Keeps a session in memory, as long as the store lives.
public final class MemorySessionStore: SessionStore {
  private let session: Mutex<Session?>

  /// With a session to begin with, for tests.
  public init(_ session: Session? = nil) { self.session = Mutex(session) }

  /// What was saved.
  public func load() async throws(HTTPError) -> Session? { session.withLock { $0 } }
  /// Keeps it.
  public func save(_ session: Session) async throws(HTTPError) { self.session.withLock { $0 = session } }
  /// Forgets it.
  public func clear() async throws(HTTPError) { session.withLock { $0 = nil } }
}

/// Takes a token from the environment and keeps nothing: for jobs that get their token from outside.
public struct EnvironmentSessionStore: SessionStore {
  private let token: String
  private let refreshToken: String?

  /// Names of variables that hold the token and, perhaps, the refresh token.
  public init(token: String, refreshToken: String? = nil) {
    self.token = token
    self.refreshToken = refreshToken
  }

  /// Nil when there is no such variable, or an empty one.
  public func load() async throws(HTTPError) -> Session? {
    guard let token = Self.value(token) else { return nil }
    return Session(token: token, refreshToken: refreshToken.flatMap(Self.value))
  }

  private static func value(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// Nothing: a refreshed session lives in memory.
  public func save(_ session: Session) async throws(HTTPError) {}
  /// Nothing.
  public func clear() async throws(HTTPError) {}
}

/// Keeps nothing: the session lives with its authenticator.
public struct NoSessionStore: SessionStore {
  /// A store without memory.
  public init() {}
  /// Nothing is there.
  public func load() async throws(HTTPError) -> Session? { nil }
  /// Nothing is kept.
  public func save(_ session: Session) async throws(HTTPError) {}
  /// There is nothing.
  public func clear() async throws(HTTPError) {}
}

/// Keeps a session by closures of one's own.
public struct ClosureSessionStore: SessionStore {
  private let loads: @Sendable () async throws(HTTPError) -> Session?
  private let saves: @Sendable (Session) async throws(HTTPError) -> Void
  private let clears: @Sendable () async throws(HTTPError) -> Void
  /// Whether others may change what it keeps.
  public let isShared: Bool

  /// The three closures. An error that isn't an `HTTPError` is for them to translate.
  public init(
    isShared: Bool = false, load: @escaping @Sendable () async throws(HTTPError) -> Session?,
    save: @escaping @Sendable (Session) async throws(HTTPError) -> Void,
    clear: @escaping @Sendable () async throws(HTTPError) -> Void
  ) {
    self.isShared = isShared
    loads = load
    saves = save
    clears = clear
  }

  /// Calls the first.
  public func load() async throws(HTTPError) -> Session? { try await loads() }
  /// Calls the second.
  public func save(_ session: Session) async throws(HTTPError) { try await saves(session) }
  /// Calls the third.
  public func clear() async throws(HTTPError) { try await clears() }
}
