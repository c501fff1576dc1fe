/// The hash functions that libcrypto computes for us: those of `Digest.Algorithm`, and one that only HTTP's digest
/// authentication asks for.
enum HashFunction: Sendable {
  case sha256
  case sha512
  /// SHA-512/256 (FIPS 180-4 §5.3.6.2): not the first half of SHA-512.
  case sha512t256
  case sha1
  case md5

  init(_ algorithm: Digest.Algorithm) {
    switch algorithm {
    case .sha256: self = .sha256
    case .sha512: self = .sha512
    case .sha1: self = .sha1
    case .md5: self = .md5
    }
  }
}
