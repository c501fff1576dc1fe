import StreamCore

/// What tells one state of a resource from another (RFC 9110 §8.8).
struct EntityValidator: Sendable, Hashable {
  /// The entity tag as it came, weak ones included.
  var etag: String?
  /// `Last-Modified` as it came.
  var lastModified: String?
  /// Whether `Last-Modified` is strong: at least a second older than the answer (RFC 9110 §8.8.2.2).
  var hasStrongDate = false

  init(etag: String? = nil, lastModified: String? = nil, hasStrongDate: Bool = false) {
    self.etag = etag
    self.lastModified = lastModified
    self.hasStrongDate = hasStrongDate
  }

  init(_ headers: HTTPFields) {
    etag = headers["ETag"]
    guard let text = headers["Last-Modified"], let changed = HTTPDate(text) else { return }
    lastModified = text
    guard let date = headers["Date"].flatMap({ HTTPDate($0) }) else { return }
    hasStrongDate = changed.secondsSinceEpoch < date.secondsSinceEpoch
  }

  /// The entity tag when it is a strong one.
  var strongTag: String? {
    guard let etag, etag.utf8.count >= 2, etag.hasPrefix("\""), etag.hasSuffix("\"") else { return nil }
    return etag
  }

  /// What may stand in `If-Range`: only something strong (RFC 9110 §13.1.5).
  var ifRange: String? { strongTag ?? (hasStrongDate ? lastModified : nil) }

  var isStrong: Bool { ifRange != nil }

  /// Whether both surely speak of different states.
  func contradicts(_ other: EntityValidator) -> Bool {
    if let etag, let theirs = other.etag { return etag != theirs }
    if let lastModified, let theirs = other.lastModified { return lastModified != theirs }
    return false
  }

  /// Whether both surely speak of one state, such as that of a file and its mirror.
  func agrees(with other: EntityValidator) -> Bool {
    if let strongTag, let theirs = other.strongTag { return strongTag == theirs }
    if let lastModified, let theirs = other.lastModified { return lastModified == theirs }
    return false
  }
}
