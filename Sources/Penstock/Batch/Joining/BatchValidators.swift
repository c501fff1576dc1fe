import Synchronization

/// What a server gave to ask later whether a resource has changed (RFC 9110 §8.8).
public struct Validators: Sendable, Hashable {
  /// The ETag field's value, quotes included.
  public var entityTag: String?
  /// The Last-Modified field's value.
  public var lastModified: String?

  /// These; empty texts count as none.
  public init(entityTag: String? = nil, lastModified: String? = nil) {
    self.entityTag = entityTag?.isEmpty == false ? entityTag : nil
    self.lastModified = lastModified?.isEmpty == false ? lastModified : nil
  }

  /// Those of a response; nil when it has none.
  public init?(_ headers: HTTPFields) {
    self.init(entityTag: headers["ETag"], lastModified: headers["Last-Modified"])
    if entityTag == nil, lastModified == nil { return nil }
  }

  /// Makes a request conditional (RFC 9110 §13.1), unless it is already.
  func apply(to request: inout Request) {
    for name in [
      "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range", "Range",
    ]
    where request.headers.contains(name) {
      return
    }
    if let entityTag { request.headers.append("If-None-Match", entityTag) }
    if let lastModified { request.headers.append("If-Modified-Since", lastModified) }
  }
}

/// Where validators are kept between runs, by method and URL. Called for each GET and HEAD of a batch whose
/// result was taken off the wire whole.
public protocol BatchValidators: Sendable {
  /// Those that were stored for a URL.
  func validators(for url: String) async -> Validators?
  /// Stores those of a whole 200.
  func store(_ validators: Validators, for url: String) async
}

/// Validators in memory, for as long as this object lives.
public final class MemoryValidators: BatchValidators {
  private let stored = Mutex<[String: Validators]>([:])

  /// None yet.
  public init() {}

  /// Those that were stored for a URL.
  public func validators(for url: String) async -> Validators? { stored.withLock { $0[url] } }

  /// Keeps them.
  public func store(_ validators: Validators, for url: String) async {
    stored.withLock { $0[url] = validators }
  }
}
