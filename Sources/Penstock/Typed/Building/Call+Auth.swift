extension Call {
  /// Sends the call with a credential of its own, in place of the client's; see `Request.authorized(by:)`.
  public func authorized(by credential: any Credential) -> Call {
    modify { $0 = $0.authorized(by: credential) }
  }

  /// Sends the call without the client's credentials, such as a login; see `Request.noAuth()`.
  public func noAuth() -> Call { modify { $0 = $0.noAuth() } }

  /// Saves the session that the answer holds; see `Request.savesSession(in:)`.
  public func savesSession(in authenticator: SessionAuthenticator? = nil) -> Call {
    modify { $0 = $0.savesSession(in: authenticator) }
  }

  /// Sends the call without the client's proofs; see `Request.withoutProofs()`.
  public func withoutProofs() -> Call { modify { $0 = $0.withoutProofs() } }
}
