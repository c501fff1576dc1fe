import StreamCore
import Testing

struct ConnectingTests {
  @Test func `overrides are read`() {
    #expect(AddressOverride("Host.test:80:1.2.3.4")?.connectTo == "host.test:80:1.2.3.4:80")
    #expect(AddressOverride("h:443:::1")?.connectTo == "h:443:[::1]:443")
    #expect(AddressOverride("h:443:[fe80::1]")?.connectTo == "h:443:[fe80::1]:443")
    #expect(AddressOverride("[::1]:8080:127.0.0.1")?.key == "[::1]:8080")
    #expect(AddressOverride("h:80:other.host")?.address == "other.host")
    for bad in [
      "", "h", "h:80", "h:80:", ":80:a", "h::a", "h:x:a", "h:70000:a", "h:80:a b", "[]:80:a", "[::1:80:a",
    ] {
      #expect(AddressOverride(bad) == nil, "\(bad)")
    }
  }

  @Test func `the first override for a host and port counts`() {
    var addressing = Addressing()
    addressing.overrides = ["a:80:1.1.1.1", "a:80:2.2.2.2", "a:81:3.3.3.3"]
    #expect(addressing.override(host: "a", port: 80)?.address == "1.1.1.1")
    #expect(addressing.override(host: "a", port: 81)?.address == "3.3.3.3")
    #expect(addressing.override(host: "b", port: 80) == nil)
    #expect(addressing.unreadableOverride == nil)
    #expect(addressing.withoutOverrides == Addressing())
    addressing.overrides.append("nonsense")
    #expect(addressing.unreadableOverride == "nonsense")
  }

  @Test func `options are equal by what they say`() {
    var one = TLSOptions()
    var other = TLSOptions()
    #expect(one == other && one.isStandard)
    one.pinnedKeys = ["a"]
    #expect(one != other && !one.isStandard)
    other.pinnedKeys = ["a"]
    #expect(one == other && one.hashValue == other.hashValue)
    let copy = one
    one.verifiesName = false
    #expect(copy.verifiesName && !one.verifiesName)
  }

  @Test func `an identity shows neither key nor password`() {
    let identity = ClientIdentity(.pem(certificate: [1], key: [77, 78]), password: "secret")
    var dumped = ""
    dump(identity, to: &dumped)
    for text in ["\(identity)", String(reflecting: identity), dumped] {
      #expect(!text.contains("secret") && !text.contains("77"))
    }
  }

  @Test(arguments: [
    ("SSL certificate problem: certificate has expired", CertificateProblem.expired),
    ("SSL certificate problem: certificate is not yet valid", .notYetValid),
    ("SSL certificate problem: self-signed certificate", .untrusted),
    ("SSL certificate problem: self-signed certificate in certificate chain", .untrusted),
    ("SSL certificate problem: unable to get local issuer certificate", .untrusted),
    ("SSL certificate problem: certificate revoked", .revoked),
    ("SSL certificate problem: unable to get certificate CRL", .unknownStatus),
    ("SSL certificate problem: CRL has expired", .unknownStatus),
    ("SSL: no alternative certificate subject name matches target host name 'localhost'", .nameMismatch),
    ("SSL: certificate subject name 'a' does not match target host name 'b'", .nameMismatch),
    ("No OCSP response received", .unknownStatus),
    ("SSL certificate revocation reason: (UNKNOWN) (-1)", .revoked),
    ("SSL certificate problem: EE certificate key too weak", .other),
  ])
  func `what is wrong with a certificate`(text: String, problem: CertificateProblem) {
    #expect(CertificateProblem(text: text) == problem)
  }

  @Test func `a certificate of the chain`() {
    let certificate = PeerCertificate(lines: [
      "Subject:CN = host", "Issuer:CN = authority", "Serial Number:0a", "Start date:Nov 30 22:51:15 2026 GMT",
      "Expire date:Dec 30 22:51:15 2026 GMT",
      "X509v3 Subject Alternative Name:DNS:host, IP Address:127.0.0.1",
      "Cert:-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n", "nonsense",
    ])
    #expect(certificate.subject == "CN = host")
    #expect(certificate.issuer == "CN = authority")
    #expect(certificate.notAfter == "Dec 30 22:51:15 2026 GMT")
    #expect(certificate.alternativeNames == ["DNS:host", "IP Address:127.0.0.1"])
    #expect(certificate.pem.hasPrefix("-----BEGIN"))
  }
}
