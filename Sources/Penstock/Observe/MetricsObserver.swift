import Synchronization

/// Counts a client's calls; `snapshot` is for a metrics endpoint or a log line.
public final class MetricsObserver: ExchangeObserver {
  /// The counts since the observer was made.
  public struct Snapshot: Sendable, Hashable {
    /// Calls that began.
    public var started = 0
    /// Calls whose body came to its end.
    public var completed = 0
    /// Calls that failed, by what went wrong.
    public var failed: [HTTPError.Kind: Int] = [:]
    /// Calls whose reader left before the end.
    public var left = 0
    /// Final heads by the first digit of the status: index 2 for 200 to 299.
    public var statuses = [Int](repeating: 0, count: 10)
    /// Redirects that were followed.
    public var redirects = 0
    /// Attempts that were retried.
    public var retries = 0
    /// Body bytes from the wire.
    public var received: Int64 = 0
    /// All durations together.
    public var totalDuration = Duration.zero
    /// Calls by duration: how many took at most `MetricsObserver.bounds[i]` and more than the bound before; the last one
    /// counts those above all bounds.
    public var durations = [Int](repeating: 0, count: MetricsObserver.bounds.count + 1)

    /// Calls that are under way.
    public var running: Int { started - completed - failed.values.reduce(0, +) - left }
  }

  /// The upper bounds of the histogram of durations.
  public static let bounds: [Duration] = [
    .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50), .milliseconds(100),
    .milliseconds(250), .milliseconds(500), .seconds(1), .milliseconds(2500), .seconds(5), .seconds(10),
    .seconds(30), .seconds(60),
  ]

  private let counts = Mutex(Snapshot())

  /// All counts zero.
  public init() {}

  /// The counts now.
  public var snapshot: Snapshot { counts.withLock { $0 } }

  /// Counts a beginning.
  public func started(_ exchange: ObservedExchange) { counts.withLock { $0.started += 1 } }

  /// Counts an end.
  public func ended(_ exchange: ObservedExchange, _ metrics: ExchangeMetrics) {
    counts.withLock { counts in
      switch metrics.outcome {
      case .completed: counts.completed += 1
      case .failed(let error): counts.failed[error.kind, default: 0] += 1
      case .left: counts.left += 1
      }
      if let status = metrics.status { counts.statuses[min(9, max(0, status.code / 100))] += 1 }
      counts.redirects += metrics.redirects
      counts.retries += metrics.retries
      counts.received += metrics.received
      counts.totalDuration += metrics.duration
      let index = Self.bounds.firstIndex { metrics.duration <= $0 } ?? Self.bounds.count
      counts.durations[index] += 1
    }
  }
}
