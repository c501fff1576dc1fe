import Penstock

/// What `download` is told beside what all verbs are.
struct DownloadSettings: Sendable, Equatable {
  /// `-C`, `--no-continue`; nil: what surely hasn't changed is continued.
  var continues: Bool?
  /// `--segments`; nil: one.
  var segments: DownloadOptions.Segments?
  var mirrors: [String] = []
  var checksum: Digest?
  var keepsRemoteTime = false
}

/// `N|auto`: how many ranges at once.
enum SegmentsValue {
  static func parse(_ text: String) throws(UsageError) -> DownloadOptions.Segments {
    if text == "auto" { return .automatic }
    let count = try CountValue.parse(text)
    guard (1...64).contains(count) else { throw UsageError("between 1 and 64 segments can be had, or auto") }
    return .count(count)
  }
}

/// A URL that can be asked, once it comes to that.
enum MirrorValue {
  static func parse(_ text: String) throws(UsageError) -> String {
    guard !text.isEmpty else { throw UsageError("a URL is missing") }
    do throws(HTTPError) {
      _ = try HTTPOrigin(of: text)
    } catch {
      throw UsageError("\(UsageError.quote(Redaction.url(text))): \(error.message)")
    }
    return text
  }
}

/// `ALG=HEX`: a digest; the algorithms of the contract, in any case.
enum ChecksumValue {
  static func parse(_ text: String) throws(UsageError) -> Digest {
    guard let equals = text.firstIndex(of: "="),
      let algorithm = Digest.Algorithm(name: String(text[..<equals]))
    else { throw UsageError("a checksum is sha-256=HEX, or one of sha-512, sha-1 and md5") }
    guard let digest = Digest(algorithm, hex: String(text[text.index(after: equals)...])) else {
      throw UsageError("a \(algorithm.rawValue) has \(2 * algorithm.byteCount) hexadecimal digits")
    }
    return digest
  }
}
