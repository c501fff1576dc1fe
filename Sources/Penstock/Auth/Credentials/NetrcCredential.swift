public import StreamCore

/// User names and passwords from a netrc file, chosen by the host of each request, sent as Basic (RFC 7617).
///
/// A redirect to another host gets that host's own entry, never the `default` one.
public struct NetrcCredential: Credential {
  private let file: NetrcFile

  /// The entries of a file.
  public init(_ file: NetrcFile) {
    self.file = file
  }

  /// Nothing for a host that has no entry.
  public func authorize(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    guard !request.headers.contains("Authorization"),
      let entry = file.entry(for: context.origin.host, allowsDefault: context.hop == 0), !entry.login.isEmpty
    else { return }
    try await BasicCredential(user: entry.login, password: entry.password).authorize(&request, &context)
  }
}

extension Credential where Self == NetrcCredential {
  /// The entries of a netrc file: `ScopedCredential(.netrc(try .standard()), for: .any)`.
  public static func netrc(_ file: NetrcFile) -> NetrcCredential { NetrcCredential(file) }
}
