/// A credential that puts the same on every request: it never waits, and every answer stands.
protocol FixedCredential: Credential {
  /// Whether this one is like that, where not all of its type are.
  var isFixed: Bool { get }
  /// Puts itself on a request.
  func put(on request: inout Request) throws(HTTPError)
}

extension FixedCredential {
  var isFixed: Bool { true }
}
