import CCrypto

/// libcrypto's digest context with its memory owned: the one file that sees libcrypto.
final class DigestContext {
  private let context: OpaquePointer

  private let byteCount: Int

  /// What libcrypto has for each algorithm. Looked up once: with `EVP_sha256` and its kin every digest begins with a
  /// search under a lock.
  private struct Methods: @unchecked Sendable {
    // Sendable: libcrypto's methods never change, and these are never freed.
    let sha256 = EVP_MD_fetch(nil, "SHA2-256", nil)
    let sha512 = EVP_MD_fetch(nil, "SHA2-512", nil)
    let sha512t256 = EVP_MD_fetch(nil, "SHA2-512/256", nil)
    let sha1 = EVP_MD_fetch(nil, "SHA1", nil)
    let md5 = EVP_MD_fetch(nil, "MD5", nil)
  }

  private static let methods = Methods()

  /// Nil when libcrypto has no memory or doesn't offer the algorithm.
  convenience init?(_ algorithm: Digest.Algorithm) { self.init(HashFunction(algorithm)) }

  /// Nil when libcrypto has no memory or doesn't offer the function.
  init?(_ function: HashFunction) {
    let method =
      switch function {
      case .sha256: Self.methods.sha256
      case .sha512: Self.methods.sha512
      case .sha512t256: Self.methods.sha512t256
      case .sha1: Self.methods.sha1
      case .md5: Self.methods.md5
      }
    guard let method, let context = EVP_MD_CTX_new() else { return nil }
    self.context = context
    byteCount = Int(EVP_MD_get_size(method))
    if EVP_DigestInit_ex(context, method, nil) != 1 { return nil }
  }

  deinit { EVP_MD_CTX_free(context) }

  func update(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.isEmpty || EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
  }

  func finalize() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    var count: UInt32 = 0
    guard EVP_DigestFinal_ex(context, &bytes, &count) == 1, count == bytes.count else { return nil }
    return bytes
  }
}

/// A digest whose state can be kept and taken up by a later run; the same code of libcrypto behind another door.
final class SavableDigestContext {
  private enum Context {
    case sha256(SHA256_CTX)
    case sha512(SHA512_CTX)
    case sha1(SHA_CTX)
    case md5(MD5_CTX)
  }

  private var context: Context

  /// Nil when libcrypto refuses.
  init?(_ algorithm: Digest.Algorithm) {
    let done: Int32
    switch algorithm {
    case .sha256:
      var state = SHA256_CTX()
      done = SHA256_Init(&state)
      context = .sha256(state)
    case .sha512:
      var state = SHA512_CTX()
      done = SHA512_Init(&state)
      context = .sha512(state)
    case .sha1:
      var state = SHA_CTX()
      done = SHA1_Init(&state)
      context = .sha1(state)
    case .md5:
      var state = MD5_CTX()
      done = MD5_Init(&state)
      context = .md5(state)
    }
    if done != 1 { return nil }
  }

  /// Takes up a kept state; nil when it isn't one of this library and machine.
  convenience init?(_ algorithm: Digest.Algorithm, state: [UInt8]) {
    self.init(algorithm)
    guard restore(state) else { return nil }
  }

  func update(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if bytes.isEmpty { return true }
    switch context {
    case .sha256(var state):
      defer { context = .sha256(state) }
      return SHA256_Update(&state, bytes.baseAddress, bytes.count) == 1
    case .sha512(var state):
      defer { context = .sha512(state) }
      return SHA512_Update(&state, bytes.baseAddress, bytes.count) == 1
    case .sha1(var state):
      defer { context = .sha1(state) }
      return SHA1_Update(&state, bytes.baseAddress, bytes.count) == 1
    case .md5(var state):
      defer { context = .md5(state) }
      return MD5_Update(&state, bytes.baseAddress, bytes.count) == 1
    }
  }

  func finalize() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    let done: Int32
    let count: Int
    switch context {
    case .sha256(var state): (done, count) = (SHA256_Final(&bytes, &state), Int(SHA256_DIGEST_LENGTH))
    case .sha512(var state): (done, count) = (SHA512_Final(&bytes, &state), Int(SHA512_DIGEST_LENGTH))
    case .sha1(var state): (done, count) = (SHA1_Final(&bytes, &state), Int(SHA_DIGEST_LENGTH))
    case .md5(var state): (done, count) = (MD5_Final(&bytes, &state), Int(MD5_DIGEST_LENGTH))
    }
    return done == 1 ? Array(bytes.prefix(count)) : nil
  }

  /// The state as bytes, marked with the library's version: another one may lay it out otherwise.
  var state: [UInt8] {
    switch context {
    case .sha256(let state): Self.mark + withUnsafeBytes(of: state) { Array($0) }
    case .sha512(let state): Self.mark + withUnsafeBytes(of: state) { Array($0) }
    case .sha1(let state): Self.mark + withUnsafeBytes(of: state) { Array($0) }
    case .md5(let state): Self.mark + withUnsafeBytes(of: state) { Array($0) }
    }
  }

  private static var mark: [UInt8] {
    let version = UInt32(truncatingIfNeeded: OpenSSL_version_num() >> 20).bigEndian
    return withUnsafeBytes(of: version) { Array($0) }
  }

  private func restore(_ kept: [UInt8]) -> Bool {
    guard kept.starts(with: Self.mark) else { return false }
    let bytes = kept.dropFirst(Self.mark.count)
    func fill<State>(_ state: inout State) -> Bool {
      guard bytes.count == MemoryLayout<State>.size else { return false }
      withUnsafeMutableBytes(of: &state) { $0.copyBytes(from: bytes) }
      return true
    }
    // How much of a block waits is an index into it: one that can't be must not be believed.
    switch context {
    case .sha256(var state):
      guard fill(&state), state.num < 64, state.md_len == 32 else { return false }
      context = .sha256(state)
    case .sha512(var state):
      guard fill(&state), state.num < 128, state.md_len == 64 else { return false }
      context = .sha512(state)
    case .sha1(var state):
      guard fill(&state), state.num < 64 else { return false }
      context = .sha1(state)
    case .md5(var state):
      guard fill(&state), state.num < 64 else { return false }
      context = .md5(state)
    }
    return true
  }
}
