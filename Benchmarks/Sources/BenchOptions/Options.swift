/// The command line that all benchmark programs share; what this one can't use is read and ignored.
package struct Options: Sendable {
  package var mode = ""
  package var url = ""
  package var cacert: String?
  /// What a body is read as, in mode values.
  package var kind = "drain"
  /// Where a download or a pipeline's rows go.
  package var to: String?
  /// The URL of a slow host among many.
  package var slow: String?
  package var isHTTP1 = false
  package var isOnLoop = false
  /// Bodies are read as they come, or into one array.
  package var isStreamed = false
  package var isCollected = false
  /// Bodies are read as JSON through the typed client.
  package var isTyped = false
  /// Calls have a retry policy, a rate limit, a concurrency limit and a circuit breaker, none of which ever acts.
  package var isGuarded = false
  /// Calls carry a bearer token, which a credential puts on them.
  package var isAuthorized = false
  /// Calls carry the same token, which they bring themselves.
  package var hasOwnField = false
  /// A download is hashed (SHA-256) on its way.
  package var isHashed = false
  package var count = 1
  package var requests = 10_000
  package var parallel = 64
  package var streams = 2000
  /// Ranges of a download at once.
  package var segments = 1
  package var bytes = 16 << 20
  /// The client's event loops; nil: as many as it has by itself.
  package var loops: Int?
  /// Seconds.
  package var hold = 2.0

  package init?(_ arguments: [String]) {
    guard arguments.count >= 3 else { return nil }
    mode = arguments[1]
    url = arguments[2]
    var rest = arguments.dropFirst(3)
    while let name = rest.popFirst() {
      switch name {
      case "--http2": isHTTP1 = false
      case "--http1.1": isHTTP1 = true
      case "--on-loop": isOnLoop = true
      case "--streamed": isStreamed = true
      case "--collected": isCollected = true
      case "--typed": isTyped = true
      case "--guarded": isGuarded = true
      case "--bearer": isAuthorized = true
      case "--field": hasOwnField = true
      case "--sha256": isHashed = true
      default:
        guard let value = rest.popFirst(), take(name, value) else { return nil }
      }
    }
  }

  private mutating func take(_ name: String, _ value: String) -> Bool {
    switch name {
    case "--cacert":
      cacert = value
      return true
    case "--as":
      kind = value
      return true
    case "--to":
      to = value
      return true
    case "--slow":
      slow = value
      return true
    case "--hold":
      guard let seconds = Double(value), seconds > 0 else { return false }
      hold = seconds
      return true
    default: break
    }
    guard let number = Int(value), number > 0 else { return false }
    switch name {
    case "--count": count = number
    case "--requests": requests = number
    case "--parallel": parallel = number
    case "--streams": streams = number
    case "--segments": segments = number
    case "--bytes": bytes = number
    case "--loops": loops = number
    default: return false
    }
    return true
  }
}
