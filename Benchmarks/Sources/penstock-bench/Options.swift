import Penstock

/// The command line that all benchmark programs share; what this one can't use is read and ignored.
struct Options: Sendable {
  var mode = ""
  var url = ""
  var cacert: String?
  /// Where a download goes.
  var to: String?
  /// The URL of a slow host among many.
  var slow: String?
  var version = VersionPolicy.automatic
  var isOnLoop = false
  /// Bodies are read as they come, or into one array.
  var isStreamed = false
  var isCollected = false
  var count = 1
  var requests = 10_000
  var parallel = 64
  var streams = 2000
  var bytes = 16 << 20
  /// Seconds.
  var hold = 2.0

  init?(_ arguments: [String]) {
    guard arguments.count >= 3 else { return nil }
    mode = arguments[1]
    url = arguments[2]
    var rest = arguments.dropFirst(3)
    while let name = rest.popFirst() {
      switch name {
      case "--http2": version = .automatic
      case "--http1.1": version = .http1_1
      case "--on-loop": isOnLoop = true
      case "--streamed": isStreamed = true
      case "--collected": isCollected = true
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
    case "--bytes": bytes = number
    default: return false
    }
    return true
  }

  /// The client under test.
  func client(parallel: Int) -> Client { Client(configuration: configuration(parallel: parallel)) }

  /// Settings as they come, but for the limits that the work needs.
  func configuration(parallel: Int) -> ClientConfiguration {
    var configuration = ClientConfiguration()
    configuration.limits.total = max(configuration.limits.total, parallel)
    configuration.limits.perHost = max(configuration.limits.perHost, parallel)
    configuration.tls.caFile = cacert
    configuration.version = version
    return configuration
  }
}
