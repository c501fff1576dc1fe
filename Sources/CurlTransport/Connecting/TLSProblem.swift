import Glibc
import StreamCore

/// What is wrong with `TLSOptions` before any byte is sent.
enum TLSProblem {
  static func unreadable(
    _ path: String, _ option: String, kind: HTTPError.Kind = .invalidConfiguration
  ) -> HTTPError {
    let reason = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
    return HTTPError(
      kind, phase: .queue, message: "\(option): \"\(path)\" can't be read: \(reason)",
      advice: "Check the path and its permissions")
  }

  /// Contradictions, and values that nothing can be made of.
  static func check(_ tls: TLSOptions, option: String) throws(HTTPError) {
    if tls.isStandard { return }
    func refuse(_ name: String, _ why: String, _ advice: String? = nil) -> HTTPError {
      HTTPError(
        .invalidConfiguration, phase: .queue, message: "\(option).\(name) \(why)", advice: advice)
    }
    if let minimum = tls.minimumVersion, let maximum = tls.maximumVersion, minimum > maximum {
      throw refuse("minimumVersion", "is newer than \(option).maximumVersion")
    }
    for (name, list) in [("ciphers", tls.ciphers), ("tls13Ciphers", tls.tls13Ciphers)] {
      if list.contains(where: { $0.isEmpty || $0.utf8.contains { $0 <= 0x20 || $0 == 0x7F } }) {
        throw refuse(name, "holds a name with blanks or none", "Use OpenSSL's names")
      }
    }
    for key in tls.pinnedKeys {
      if key.hasPrefix(Self.hashMark) {
        guard isHash(key.dropFirst(Self.hashMark.count)) else {
          throw refuse("pinnedKeys", "holds \"\(key)\", which is no SHA-256", "Write it as sha256//BASE64")
        }
      } else if tls.pinnedKeys.count > 1 || key.contains(";") {
        throw refuse(
          "pinnedKeys", "holds \"\(key)\"", "Write each as sha256//BASE64, or give one file of a key")
      } else if unsafe access(key, R_OK) != 0 {
        throw unreadable(key, "\(option).pinnedKeys")
      }
    }
    if let list = tls.revocationList, unsafe access(list, R_OK) != 0 {
      throw unreadable(list, "\(option).revocationList")
    }
    if let identity = tls.identity { try check(identity, "\(option).identity") }
  }

  private static let hashMark = "sha256//"

  /// 32 bytes in Base64.
  private static func isHash(_ text: Substring) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 44, bytes.last == UInt8(ascii: "=") else { return false }
    return bytes.dropLast().allSatisfy { byte in
      DecimalDigits.isDigit(byte) || FieldSyntax.lower(byte) &- UInt8(ascii: "a") < 26
        || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
    }
  }

  private static func check(_ identity: ClientIdentity, _ option: String) throws(HTTPError) {
    func readable(_ path: String, _ part: String) throws(HTTPError) {
      if path.isEmpty { throw empty(part) }
      if unsafe access(path, R_OK) != 0 {
        throw unreadable(path, "\(option).\(part)", kind: .clientCertificate)
      }
    }
    func empty(_ part: String) -> HTTPError {
      HTTPError(
        .invalidConfiguration, phase: .queue, message: "\(option).\(part) is empty",
        advice: "A client certificate needs its key")
    }
    switch identity.content {
    case .files(let certificate, let key):
      try readable(certificate, "certificate")
      try readable(key, "key")
    case .pem(let certificate, let key):
      if certificate.isEmpty { throw empty("certificate") }
      if key.isEmpty { throw empty("key") }
    case .pkcs12File(let path): try readable(path, "pkcs12File")
    case .pkcs12(let bytes): if bytes.isEmpty { throw empty("pkcs12") }
    }
    if identity.password?.utf8.contains(0) == true {
      throw HTTPError(.invalidConfiguration, phase: .queue, message: "\(option).password holds a NUL")
    }
  }
}
