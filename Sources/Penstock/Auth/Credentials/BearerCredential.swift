public import StreamCore

/// A bearer token in the Authorization field (RFC 6750 §2.1).
public struct BearerCredential: Credential {
  private enum Source: Sendable {
    case fixed(Secret)
    case provider(@Sendable () async throws -> String)
  }

  private let source: Source

  /// A token that doesn't change.
  public init(_ token: String) { source = .fixed(Secret(token)) }

  /// A token that is asked for before every attempt. What the closure throws fails the request: an `HTTPError`
  /// as it is, anything else as `HTTPError.Kind.loginDenied`, its text left out since it may hold the token.
  public init(provider: @escaping @Sendable () async throws -> String) { source = .provider(provider) }

  /// Throws `HTTPError.Kind.invalidConfiguration` for a token that can't stand in a field.
  public func authorize(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    guard !request.headers.contains("Authorization") else { return }
    let token: String
    switch source {
    case .fixed(let secret): token = secret.value
    case .provider(let provider):
      do {
        token = try await provider()
      } catch {
        throw .thrown(
          error, or: .loginDenied, phase: .queue, "the token's provider failed with a \(type(of: error))")
      }
    }
    try SecretCheck.visible(token, "the bearer token")
    request.headers.append("Authorization", "Bearer " + token)
  }
}

extension Credential where Self == BearerCredential {
  /// A bearer token that doesn't change.
  public static func bearer(_ token: String) -> BearerCredential { BearerCredential(token) }
  /// A bearer token that is asked for before every attempt.
  public static func bearerToken(
    from provider: @escaping @Sendable () async throws -> String
  ) -> BearerCredential { BearerCredential(provider: provider) }
}
