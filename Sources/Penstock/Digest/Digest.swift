/// The digest of some bytes: which algorithm, and what came out.
public struct Digest: Sendable, Hashable, CustomStringConvertible {
  /// How a digest is computed. The raw value is the name of RFC 9530's registry.
  public enum Algorithm: String, Sendable, Hashable, CaseIterable {
    /// SHA-256 (FIPS 180-4).
    case sha256 = "sha-256"
    /// SHA-512 (FIPS 180-4).
    case sha512 = "sha-512"
    /// SHA-1: broken against an attacker, good enough against accidents.
    case sha1 = "sha"
    /// MD5: broken against an attacker, good enough against accidents.
    case md5

    /// The algorithm that a name stands for, whatever its case: "sha-256" or "sha256", likewise for 512 and
    /// 1, "sha" (which is SHA-1), "md5" or "md-5"; nil for any other.
    public init?(name: String) {
      switch name.lowercased() {
      case "sha-256", "sha256": self = .sha256
      case "sha-512", "sha512": self = .sha512
      case "sha", "sha-1", "sha1": self = .sha1
      case "md5", "md-5": self = .md5
      default: return nil
      }
    }

    /// The size of a digest in bytes.
    public var byteCount: Int {
      switch self {
      case .sha256: 32
      case .sha512: 64
      case .sha1: 20
      case .md5: 16
      }
    }
  }

  /// How it was computed.
  public let algorithm: Algorithm
  /// The digest, `algorithm.byteCount` bytes.
  public let bytes: [UInt8]

  /// A known digest; nil when the number of bytes isn't the algorithm's.
  public init?(_ algorithm: Algorithm, bytes: [UInt8]) {
    guard bytes.count == algorithm.byteCount else { return nil }
    self.algorithm = algorithm
    self.bytes = bytes
  }

  /// A known digest from hexadecimal digits of either case; nil for anything else or another length.
  public init?(_ algorithm: Algorithm, hex: String) {
    let digits = Array(hex.utf8)
    guard digits.count == 2 * algorithm.byteCount else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(algorithm.byteCount)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = HexDigits.value(of: digits[index]), let low = HexDigits.value(of: digits[index + 1])
      else { return nil }
      bytes.append(high << 4 | low)
    }
    self.algorithm = algorithm
    self.bytes = bytes
  }

  /// The digest in lower-case hexadecimal digits.
  public var hex: String {
    HexDigits.encode(bytes)
  }

  /// The name and the digits: "sha-256:e3b0…".
  public var description: String { "\(algorithm.rawValue):\(hex)" }
}
