import StreamCore
import Foundation
import Synchronization

/// Certificates of a made-up authority, made once for all tests.
struct Certificates: Sendable {
  struct Pair: Sendable {
    let certificate: String
    let key: String
  }

  let directory: TemporaryDirectory
  /// The authority's root.
  let root: String
  /// For localhost, 127.0.0.1 and ::1.
  let local: Pair
  /// By the same authority for another name.
  let other: Pair
  /// By nobody.
  let selfSigned: Pair

  private static let made = Task { try await make() }
  static func shared() async throws -> Certificates { try await made.value }

  /// What the end of the process removes.
  private static let path = Mutex("")

  private static func make() async throws -> Certificates {
    let directory = try TemporaryDirectory()
    path.withLock { $0 = directory.path }
    atexit { try? FileManager.default.removeItem(atPath: Certificates.path.withLock { $0 }) }
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"]
    func certificate(_ name: String, _ subject: String, _ more: [String]) async throws -> Pair {
      let pair = Pair(certificate: directory.file(name + ".pem"), key: directory.file(name + ".key"))
      try await ChildProcess.run(
        ["openssl", "req", "-x509"] + key
          + ["-keyout", pair.key, "-out", pair.certificate, "-subj", "/CN=" + subject] + more)
      return pair
    }
    let authority = try await certificate("ca", "Penstock Test Authority", [])
    let signed = ["-CA", authority.certificate, "-CAkey", authority.key]
    let leaf = ["-addext", "basicConstraints=critical,CA:FALSE"]
    let names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1"]
    return Certificates(
      directory: directory, root: authority.certificate,
      local: try await certificate("local", "localhost", signed + leaf + names),
      other: try await certificate(
        "other", "other.test", signed + leaf + ["-addext", "subjectAltName=DNS:other.test"]),
      selfSigned: try await certificate("self", "localhost", names))
  }
}
