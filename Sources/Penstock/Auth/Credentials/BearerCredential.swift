public import StreamCore

/// A bearer token in the Authorization field (RFC 6750 §2.1).
public struct BearerCredential: Credential, FixedCredential {
  private enum Source: Sendable {
    /// The whole field; nil where the token can't stand in one.
    case fixed(SecretFields?)
    case provider(@Sendable () async throws -> String)
  }

  private let source: Source

  /// A token that doesn't change.
  public init(_ token: String) {
    source = .fixed(
      SecretCheck.isVisible(token) ? SecretFields(["Authorization": Self.value(token)]) : nil)
  }

  /// A token that is asked for before every attempt. What the closure throws fails the request: an `HTTPError`
  /// as it is, anything else as `HTTPError.Kind.loginDenied`, its text left out since it may hold the token.
  public init(provider: @escaping @Sendable () async throws -> String) { source = .provider(provider) }

  /// Throws `HTTPError.Kind.invalidConfiguration` for a token that can't stand in a field.
  public func authorize(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    guard case .provider(let provider) = source else { return try put(on: &request) }
    guard !request.headers.contains("Authorization") else { return }
    let token: String
    do {
      token = try await provider()
    } catch {
      throw .thrown(
        error, or: .loginDenied, phase: .queue, "the token's provider failed with a \(type(of: error))")
    }
    try SecretCheck.visible(token, Self.name)
    request.headers.append("Authorization", Self.value(token))
  }

  var isFixed: Bool { if case .fixed = source { true } else { false } }

  func put(on request: inout Request) throws(HTTPError) {
    guard case .fixed(let fields) = source, !request.headers.contains("Authorization") else { return }
    guard let fields else { throw SecretCheck.notVisible(Self.name) }
    fields.put(on: &request)
  }

  private static let name = "the bearer token"
  private static func value(_ token: String) -> String { "Bearer " + token }
}

extension Credential where Self == BearerCredential {
  /// A bearer token that doesn't change.
  public static func bearer(_ token: String) -> BearerCredential { BearerCredential(token) }
  /// A bearer token that is asked for before every attempt.
  public static func bearerToken(
    from provider: @escaping @Sendable () async throws -> String
  ) -> BearerCredential { BearerCredential(provider: provider) }
}
