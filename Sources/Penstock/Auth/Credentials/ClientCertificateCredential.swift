public import StreamCore

/// A certificate that the client shows in the TLS handshake (RFC 8446 §4.4.2), to its origins alone.
///
/// Connections are shared only among requests with the same certificate.
public struct ClientCertificateCredential: Credential {
  private let identity: ClientIdentity

  /// A certificate with its key.
  public init(_ identity: ClientIdentity) { self.identity = identity }

  /// Sets the identity of the request's TLS options, unless the request or its client has one.
  public func authorize(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    var tls = request.tls ?? context.client.configuration.tls
    guard tls.identity == nil else { return }
    tls.identity = identity
    request.tls = tls
  }
}

extension Credential where Self == ClientCertificateCredential {
  /// A certificate that the client shows in the TLS handshake.
  public static func clientCertificate(_ identity: ClientIdentity) -> ClientCertificateCredential {
    ClientCertificateCredential(identity)
  }
}
