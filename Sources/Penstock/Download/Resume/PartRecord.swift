import FoundationEssentials

/// What a sidecar says of its part: enough to go on, or to know that one can't.
struct PartRecord: Sendable, Hashable, Codable {
  /// The state of a digest over the first `offset` bytes.
  struct DigestState: Sendable, Hashable, Codable {
    var algorithm: String
    var offset: Int64
    /// libcrypto's context in Base64.
    var state: String
  }

  static let currentVersion = 1

  var version = PartRecord.currentVersion
  /// What was asked for and what answered, secrets cut.
  var url: String
  var finalURL: String
  var etag: String?
  var lastModified: String?
  /// Whether the validator is strong.
  var strong: Bool
  /// Bytes of the whole, null when unknown.
  var total: Int64?
  /// Ranges that are on the disk: pairs of first byte and end.
  var segments: [[Int64]]
  var digests: [DigestState] = []
  /// Whether the end of the body can be told from a cut.
  var endVerifiable: Bool

  private enum CodingKeys: String, CodingKey {
    case version, url
    case finalURL = "final_url"
    case etag
    case lastModified = "last_modified"
    case strong, total, segments, digests
    case endVerifiable = "end_verifiable"
  }

  var validator: EntityValidator {
    EntityValidator(etag: etag, lastModified: lastModified, hasStrongDate: strong && strongTagIsMissing)
  }

  private var strongTagIsMissing: Bool { EntityValidator(etag: etag).strongTag == nil }

  var done: ByteRanges {
    ByteRanges(segments.map { $0[0]..<$0[1] })
  }

  /// JSON in one line.
  func encoded() -> [UInt8]? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(self) else { return nil }
    return Array(data) + [UInt8(ascii: "\n")]
  }

  /// Nil for anything that isn't a record of this version, whole and without contradiction.
  static func decode(_ bytes: [UInt8]) -> PartRecord? {
    guard let record = try? JSONDecoder().decode(PartRecord.self, from: Data(bytes)) else { return nil }
    return record.isSound ? record : nil
  }

  private var isSound: Bool {
    guard version == Self.currentVersion, (total ?? 0) >= 0 else { return false }
    var last: Int64 = -1
    for segment in segments {
      guard segment.count == 2, segment[0] > last, segment[0] >= 0, segment[1] > segment[0] else {
        return false
      }
      last = segment[1]
    }
    if let total, last > total { return false }
    // Without a total there is one stream of bytes from the first on.
    if total == nil, segments.count > 1 || (segments.first.map { $0[0] != 0 } ?? false) { return false }
    return digests.allSatisfy { $0.offset >= 0 && $0.offset <= max(0, last) }
  }
}
