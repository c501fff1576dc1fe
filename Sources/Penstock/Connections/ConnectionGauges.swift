import CurlTransport

/// How many connections a client has, and who waits for one.
public struct ConnectionGauges: Sendable, Hashable {
  /// Open connections, those being opened included.
  public var open = 0
  /// Open connections that serve an exchange, or are being opened for one.
  public var inUse = 0
  /// Open connections that are kept for the next exchange.
  public var idle: Int { max(0, open - inUse) }
  /// Calls that wait for admission, by origin ("https://host:443").
  public var queued: [String: Int] = [:]

  /// None at all.
  public init() {}
}

extension Client {
  /// A snapshot of the client's connections; all zero on a transport that isn't libcurl's.
  public func connectionGauges() async -> ConnectionGauges {
    var gauges = ConnectionGauges()
    guard let counts = await curl?.connectionCounts() else { return gauges }
    gauges.open = counts.open
    gauges.inUse = min(counts.open, counts.inUse)
    gauges.queued = counts.queued
    return gauges
  }

  /// The client's connections as they change: the first value at once, then each that differs from the one before,
  /// looked at once an interval. A slow reader misses values, never the latest. It has no end: cancel the task, or
  /// stop iterating.
  public func connectionGaugeUpdates(every interval: Duration = .milliseconds(250)) -> ConnectionGaugeUpdates
  {
    ConnectionGaugeUpdates(client: self, interval: interval)
  }
}

/// See `Client.connectionGaugeUpdates(every:)`.
public struct ConnectionGaugeUpdates: AsyncSequence, Sendable {
  /// A snapshot.
  public typealias Element = ConnectionGauges
  /// It doesn't fail.
  public typealias Failure = Never

  let client: Client
  let interval: Duration

  /// Looks at the client when it is asked.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let client: Client
    let interval: Duration
    var last: ConnectionGauges?

    /// The next value that differs; nil when the task is cancelled.
    public mutating func next() async -> ConnectionGauges? { await next(isolation: nil) }

    /// The same, for the language.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ConnectionGauges? {
      while !Task.isCancelled {
        let gauges = await client.connectionGauges()
        if gauges != last {
          last = gauges
          return gauges
        }
        do { try await Task.sleep(for: Swift.max(.milliseconds(1), interval)) } catch { return nil }
      }
      return nil
    }
  }

  /// An iterator of its own, which begins with the value of now.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client, interval: interval) }
}
