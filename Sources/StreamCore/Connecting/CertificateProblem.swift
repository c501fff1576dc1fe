/// Why a server's certificate was refused; beside `HTTPError.Kind.serverCertificate`.
public enum CertificateProblem: String, Sendable, Hashable, CaseIterable {
  /// Its time, or that of a certificate above it, is over.
  case expired
  /// Its time, or that of a certificate above it, has not begun.
  case notYetValid = "not_yet_valid"
  /// The chain leads to no trusted root.
  case untrusted
  /// It is for another name.
  case nameMismatch = "name"
  /// It has been revoked.
  case revoked
  /// No good OCSP answer or revocation list was to be had, though one was required.
  case unknownStatus = "status"
  /// Anything else: a weak key, a wrong purpose, a damaged certificate.
  case other

  /// Read from OpenSSL's and libcurl's words, which don't depend on the locale.
  package init(text: String) {
    func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
    if says("subject name", "does not match target host", "Hostname mismatch", "hostname mismatch") {
      self = .nameMismatch
    } else if says("CRL has expired", "CRL is not yet valid", "unable to get certificate CRL", "OCSP") {
      self = says("revoked") ? .revoked : .unknownStatus
    } else if says("revoked", "Revoked", "revocation reason") {
      self = .revoked
    } else if says("not yet valid") {
      self = .notYetValid
    } else if says("expired") {
      self = .expired
    } else if says(
      "self-signed", "self signed", "local issuer", "issuer certificate", "untrusted", "not trusted",
      "unable to verify the first")
    {
      self = .untrusted
    } else {
      self = .other
    }
  }

  /// What to try.
  package var advice: String {
    switch self {
    case .expired: "The certificate has expired: the server needs a new one; check this machine's clock too"
    case .notYetValid: "The certificate isn't valid yet: check this machine's clock"
    case .untrusted: "The certificate isn't signed by a trusted root: name the right one if you trust it"
    case .nameMismatch: "The certificate is for another name: check the host"
    case .revoked: "The certificate has been revoked: don't trust the server until it has a new one"
    case .unknownStatus:
      "Whether the certificate was revoked can't be told: check the lists, or the server's OCSP"
    case .other: "Check the server's certificate chain"
    }
  }
}
