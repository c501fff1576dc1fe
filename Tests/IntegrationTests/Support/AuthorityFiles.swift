import Foundation

/// More of what the tests' authority signs: expired, revoked, for clients. Made once for all tests.
struct AuthorityFiles: Sendable {
  /// Its time was over long ago.
  let expired: Certificates.Pair
  let notYetValid: Certificates.Pair
  /// Good but for the list below.
  let revoked: Certificates.Pair
  let revocationList: String
  /// A good one and the revoked one with the authority's behind them, and what its OCSP says of each.
  let goodChain: Certificates.Pair
  let goodStatus: String
  let revokedChain: Certificates.Pair
  let revokedStatus: String
  /// Two clients.
  let alice: Certificates.Pair
  let bob: Certificates.Pair
  /// Alice's, password "open sesame".
  let pkcs12: String
  /// The SHA-256 of the key of `Certificates.local`, as pins are written.
  let localPin: String
  /// A directory, hashed as OpenSSL wants it, with the authority's root.
  let directory: String

  private static let made = Task { try await make() }
  static func shared() async throws -> AuthorityFiles { try await made.value }

  private static func make() async throws -> AuthorityFiles {
    let certificates = try await Certificates.shared()
    let folder = certificates.directory
    try folder.write("index.txt", "")
    try folder.write("index.txt.attr", "unique_subject = no\n")
    try folder.write("serial", "1000\n")
    try folder.write("crlnumber", "01\n")
    let configuration = try folder.write(
      "ca.cnf",
      """
      [ca]
      default_ca = tests
      [tests]
      database = \(folder.file("index.txt"))
      new_certs_dir = \(folder.path)
      serial = \(folder.file("serial"))
      crlnumber = \(folder.file("crlnumber"))
      certificate = \(certificates.root)
      private_key = \(folder.file("ca.key"))
      default_md = sha256
      default_days = 30
      default_crl_days = 30
      policy = any
      x509_extensions = leaf
      [any]
      commonName = supplied
      [leaf]
      basicConstraints = critical,CA:FALSE
      subjectAltName = DNS:localhost,IP:127.0.0.1,IP:::1

      """)
    let authority = ["openssl", "ca", "-batch", "-config", configuration]
    func pair(_ name: String, _ subject: String, _ dates: [String] = []) async throws -> Certificates.Pair {
      let pair = Certificates.Pair(certificate: folder.file(name + ".pem"), key: folder.file(name + ".key"))
      let request = folder.file(name + ".csr")
      try await ChildProcess.run([
        "openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", pair.key, "-out", request, "-subj", "/CN=" + subject,
      ])
      try await ChildProcess.run(
        authority + ["-notext", "-in", request, "-out", pair.certificate] + dates)
      return pair
    }
    let expired = try await pair(
      "expired", "localhost", ["-startdate", "20200101000000Z", "-enddate", "20200201000000Z"])
    let notYetValid = try await pair(
      "early", "localhost", ["-startdate", "20900101000000Z", "-enddate", "20910101000000Z"])
    let revoked = try await pair("revoked", "localhost")
    let alice = try await pair("alice", "alice")
    let bob = try await pair("bob", "bob")
    try await ChildProcess.run(authority + ["-revoke", revoked.certificate])
    let list = folder.file("crl.pem")
    try await ChildProcess.run(authority + ["-gencrl", "-out", list])
    func status(_ name: String, of pair: Certificates.Pair) async throws -> String {
      try await ChildProcess.run([
        "openssl", "ocsp", "-index", folder.file("index.txt"), "-CA", certificates.root, "-rsigner",
        certificates.root, "-rkey", folder.file("ca.key"), "-issuer", certificates.root, "-cert",
        pair.certificate, "-ndays", "30", "-noverify", "-respout", folder.file(name),
      ])
      return folder.file(name)
    }
    func chain(_ name: String, of pair: Certificates.Pair) throws -> Certificates.Pair {
      let text = try [pair.certificate, certificates.root].map {
        try String(contentsOfFile: $0, encoding: .utf8)
      }
      return Certificates.Pair(certificate: try folder.write(name, text.joined()), key: pair.key)
    }
    let goodStatus = try await status("good.der", of: alice)
    let revokedStatus = try await status("revoked.der", of: revoked)
    let pkcs12 = folder.file("alice.p12")
    try await ChildProcess.run([
      "openssl", "pkcs12", "-export", "-in", alice.certificate, "-inkey", alice.key, "-out", pkcs12,
      "-passout", "pass:open sesame",
    ])
    let digest = folder.file("pin")
    try await ChildProcess.run([
      "sh", "-c",
      "openssl x509 -in '\(certificates.local.certificate)' -pubkey -noout | openssl pkey -pubin -outform der"
        + " | openssl dgst -sha256 -binary | openssl base64 -A > '\(digest)'",
    ])
    let roots = folder.file("roots")
    try FileManager.default.createDirectory(atPath: roots, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: certificates.root, toPath: roots + "/authority.pem")
    try FileManager.default.copyItem(atPath: certificates.root, toPath: roots + "/the-same-again.0")
    try Data("no certificate\n".utf8).write(to: URL(fileURLWithPath: roots + "/README"))
    return AuthorityFiles(
      expired: expired, notYetValid: notYetValid, revoked: revoked, revocationList: list,
      goodChain: try chain("good-chain.pem", of: alice), goodStatus: goodStatus,
      revokedChain: try chain("revoked-chain.pem", of: revoked), revokedStatus: revokedStatus, alice: alice,
      bob: bob,
      pkcs12: pkcs12, localPin: "sha256//" + (try String(contentsOfFile: digest, encoding: .utf8)),
      directory: roots)
  }
}
