public import StreamCore

/// Puts nothing on a request: where a client's credential would go otherwise.
public struct NoCredential: Credential, FixedCredential {
  /// Nothing.
  public init() {}
  /// Does nothing.
  public func authorize(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {}

  func put(on request: inout Request) {}
}

extension Credential where Self == NoCredential {
  /// No credential.
  public static var none: NoCredential { NoCredential() }
}
