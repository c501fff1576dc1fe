import CCrypto

/// A private key of libcrypto with its memory owned, or a public one for checking.
final class KeyPair: @unchecked Sendable {
  // Sendable: the key isn't changed after it was made, and libcrypto's keys may be used from many threads.
  enum Kind: Sendable {
    case p256, ed25519
  }

  let kind: Kind
  private let key: OpaquePointer

  private init?(_ key: OpaquePointer?) {
    defer { cshims_clear_errors() }
    guard let key else { return nil }
    if cshims_is_p256(key) == 1 {
      kind = .p256
    } else if cshims_is_ed25519(key) == 1 {
      kind = .ed25519
    } else {
      EVP_PKEY_free(key)
      return nil
    }
    self.key = key
  }

  deinit { EVP_PKEY_free(key) }

  /// A new key; nil when libcrypto refuses.
  static func generate(_ kind: Kind) -> KeyPair? {
    KeyPair(kind == .p256 ? cshims_p256_generate() : cshims_ed25519_generate())
  }

  /// A private key from PEM (PKCS #8 or SEC 1); nil for anything else, other curves and encrypted keys.
  convenience init?(privatePEM pem: [UInt8]) {
    guard let count = Int32(exactly: pem.count) else { return nil }
    self.init(cshims_read_private_pem(pem, count))
  }

  /// A public key from PEM; it can only check.
  convenience init?(publicPEM pem: [UInt8]) {
    guard let count = Int32(exactly: pem.count) else { return nil }
    self.init(cshims_read_public_pem(pem, count))
  }

  /// The private key as PKCS #8 in PEM.
  var privatePEM: [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = cshims_write_private_pem(key, &bytes, Int32(bytes.count))
    cshims_clear_errors()
    return count > 0 ? Array(bytes.prefix(Int(count))) : nil
  }

  /// P-256: the 65 bytes 4‖x‖y. Ed25519: the 32 bytes of the public key.
  var publicBytes: [UInt8]? {
    defer { cshims_clear_errors() }
    var bytes = [UInt8](repeating: 0, count: 80)
    var count = bytes.count
    switch kind {
    case .p256: guard cshims_ec_point(key, &bytes, bytes.count, &count) == 1, count == 65 else { return nil }
    case .ed25519: guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1 else { return nil }
    }
    return Array(bytes.prefix(count))
  }

  /// P-256: ECDSA with SHA-256 in DER. Ed25519: the 64 bytes.
  func sign(_ message: [UInt8]) -> [UInt8]? {
    defer { cshims_clear_errors() }
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestSignInit(context, nil, kind == .p256 ? EVP_sha256() : nil, nil, key) == 1 else {
      return nil
    }
    var signature = [UInt8](repeating: 0, count: 128)
    var count = signature.count
    guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else { return nil }
    return Array(signature.prefix(count))
  }

  /// Whether a signature, in the form that `sign` gives, is of this key.
  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    defer { cshims_clear_errors() }
    guard let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestVerifyInit(context, nil, kind == .p256 ? EVP_sha256() : nil, nil, key) == 1 else {
      return false
    }
    return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }
}
