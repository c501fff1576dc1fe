extension Request {
  /// What the request says to the auth stage.
  var authorization: AuthorizationStage {
    get { choices.value.authorizer as? AuthorizationStage ?? AuthorizationStage() }
    set { choices.value.authorizer = newValue }
  }

  /// The request with a credential of its own, in place of its client's. It is bound to the origin of the URL: on
  /// a redirect to another origin it is dropped, and not restored later (`RedirectPolicy.keepsSecrets`
  /// lifts that).
  public func authorized(by credential: any Credential) -> Request {
    var copy = self
    copy.authorization.choice = .own(credential)
    return copy
  }

  /// The request without its client's credentials, such as a login. Proofs are still put on it; see
  /// `withoutProofs()`.
  public func noAuth() -> Request {
    var copy = self
    copy.authorization.choice = .none
    return copy
  }

  /// The request marked as a login: the session that its answer (2xx) holds is saved, here or by the client's
  /// `SessionAuthenticator` for the URL's origin. An answer up to 1 MiB is collected before the caller gets it;
  /// one without a token is passed on, and nothing is saved. When the store fails, the call throws.
  public func savesSession(in authenticator: SessionAuthenticator? = nil) -> Request {
    var copy = self
    copy.authorization.mark = authenticator.map { .into($0) } ?? .client
    return copy
  }

  /// The request that meets an expired token alone: no refresh is made or waited for on its behalf, and a refusal is
  /// its response.
  public func withoutRefresh() -> Request {
    var copy = self
    copy.authorization.refreshes = false
    return copy
  }

  /// The request without its client's proofs.
  public func withoutProofs() -> Request {
    var copy = self
    copy.authorization.provesRequests = false
    return copy
  }

  /// What leaves an origin leaves its own credential behind.
  mutating func leaveOwnCredential() {
    guard let stage = choices.value.authorizer as? AuthorizationStage, case .own = stage.choice else {
      return
    }
    authorization.choice = .none
  }
}
