public import StreamCore

/// Keeps a session. Calls come one after another, never two at once from one authenticator.
public protocol SessionStore: Sendable {
  /// The session; nil when there is none. Throws when it can't be told: then the session counts as unknown, not as
  /// gone.
  func load() async throws(HTTPError) -> Session?
  /// Keeps a session in place of the one before. Throws, and the one before stays.
  func save(_ session: Session) async throws(HTTPError)
  /// Forgets the session.
  func clear() async throws(HTTPError)
  /// Whether other processes may change it: then it is read again before a refresh.
  var isShared: Bool { get }
  /// Runs a closure while nobody else, in other processes neither, does the same.
  func exclusively<Value: Sendable>(
    _ body: @Sendable () async throws(HTTPError) -> Value
  ) async throws(HTTPError) -> Value
}

extension SessionStore {
  /// False.
  public var isShared: Bool { false }
  /// Runs the closure.
  public func exclusively<Value: Sendable>(
    _ body: @Sendable () async throws(HTTPError) -> Value
  ) async throws(HTTPError) -> Value { try await body() }
}
