/// How large a body may become by decoding.
///
/// Reading piece by piece needs little memory whatever comes, so these protect what lies behind the reader:
/// disks, arrays, processor time.
public struct DecodingLimits: Sendable, Hashable {
  /// The most bytes that a body may decode to; nil: no limit.
  public var maximumBytes: Int64?

  /// The most decoded bytes for each byte from the wire; nil: no limit.
  ///
  /// The default of 1,000 is just below what a single deflate can reach (1,032, a file of zeros). Real logs
  /// stay far under it (20 under gzip, 80 under zstd; one line over and over makes 300 under gzip), while
  /// stacked codings, `br` and `zstd`, which can make millions, are held to what one deflate can do.
  public var maximumRatio: Int?

  /// The ratio isn't looked at before this many decoded bytes.
  public var ratioAllowance: Int64

  /// Limits in bytes and decoded bytes per wire byte.
  public init(maximumBytes: Int64? = nil, maximumRatio: Int? = 1_000, ratioAllowance: Int64 = 16 << 20) {
    self.maximumBytes = maximumBytes
    self.maximumRatio = maximumRatio
    self.ratioAllowance = ratioAllowance
  }

  /// No limit on the size, 1,000 decoded bytes per wire byte beyond the first 16 MiB.
  public static let standard = DecodingLimits()

  /// No limit at all.
  public static let none = DecodingLimits(maximumRatio: nil)

  /// More codings than this on one body are refused; two are already rare.
  package static let maximumCodings = 4

  /// Throws `.bodyTooLarge` when the body has become too large.
  func check(size: Int64) throws(HTTPError) {
    guard let maximumBytes, size > maximumBytes else { return }
    throw HTTPError(
      .bodyTooLarge, phase: .decode, message: "the decoded body is larger than \(maximumBytes) bytes",
      advice: "Raise the limit on decoded bytes if such bodies are expected")
  }

  /// Throws `.bodyTooLarge` when so much was made of so little. Every coding of a stack is held to it: one in
  /// the middle may blow up what the last one swallows again.
  func check(produced: Int64, wire: Int64) throws(HTTPError) {
    guard let maximumRatio, produced > ratioAllowance, produced / Int64(max(1, maximumRatio)) > wire
    else { return }
    throw HTTPError(
      .bodyTooLarge, phase: .decode, message: "the body decodes to more than \(maximumRatio) times its size",
      advice: "It looks like a decompression bomb; raise the limit on the ratio if it is none")
  }
}
