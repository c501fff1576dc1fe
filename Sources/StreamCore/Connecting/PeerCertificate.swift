/// One certificate of a server's chain, as it was shown in the handshake.
public struct PeerCertificate: Sendable, Hashable {
  /// The certificate in PEM form (RFC 7468).
  public let pem: String
  /// Whom it is for, as OpenSSL writes names: "CN = host".
  public let subject: String
  /// Who signed it.
  public let issuer: String
  /// Its serial number in hexadecimal digits.
  public let serialNumber: String
  /// When its time begins, as OpenSSL writes it: "Nov 30 22:51:15 2026 GMT".
  public let notBefore: String
  /// When its time ends.
  public let notAfter: String
  /// The names that it is for (RFC 5280 §4.2.1.6): "DNS:host", "IP Address:192.0.2.1".
  public let alternativeNames: [String]

  /// From libcurl's lines "Name:value".
  package init(lines: [String]) {
    var values: [String: String] = [:]
    for line in lines {
      guard let colon = line.firstIndex(of: ":") else { continue }
      values[String(line[..<colon])] = String(line[line.index(after: colon)...])
    }
    func value(_ name: String) -> String { values[name] ?? "" }
    pem = value("Cert")
    subject = value("Subject")
    issuer = value("Issuer")
    serialNumber = value("Serial Number")
    notBefore = value("Start date")
    notAfter = value("Expire date")
    alternativeNames = value("X509v3 Subject Alternative Name").split(separator: ",").map { part in
      String(part.drop { $0 == " " })
    }
  }
}
