extension Call {
  /// The call with a credential of its own; see `Request.authorized(by:)`.
  public func authorized(by credential: any Credential) -> Call {
    modify { $0 = $0.authorized(by: credential) }
  }

  /// The call without its client's credentials; see `Request.noAuth()`.
  public func noAuth() -> Call { modify { $0 = $0.noAuth() } }

  /// The call marked as a login; see `Request.savesSession(in:)`.
  public func savesSession(in authenticator: SessionAuthenticator? = nil) -> Call {
    modify { $0 = $0.savesSession(in: authenticator) }
  }

  /// The call that meets an expired token alone; see `Request.withoutRefresh()`.
  public func withoutRefresh() -> Call { modify { $0 = $0.withoutRefresh() } }

  /// The call without its client's proofs; see `Request.withoutProofs()`.
  public func withoutProofs() -> Call { modify { $0 = $0.withoutProofs() } }
}
