import CCrypto

/// libcrypto's digest context with its memory owned: the one file that sees libcrypto.
final class DigestContext {
  private let context: OpaquePointer

  /// Nil when libcrypto has no memory or doesn't offer the algorithm.
  init?(_ algorithm: Digest.Algorithm) {
    guard let context = EVP_MD_CTX_new() else { return nil }
    self.context = context
    let method =
      switch algorithm {
      case .sha256: EVP_sha256()
      case .sha512: EVP_sha512()
      case .sha1: EVP_sha1()
      case .md5: EVP_md5()
      }
    if EVP_DigestInit_ex(context, method, nil) != 1 { return nil }
  }

  deinit { EVP_MD_CTX_free(context) }

  func update(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.isEmpty || EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
  }

  func finalize() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    guard EVP_DigestFinal_ex(context, &bytes, &count) == 1 else { return nil }
    return Array(bytes.prefix(Int(count)))
  }
}
