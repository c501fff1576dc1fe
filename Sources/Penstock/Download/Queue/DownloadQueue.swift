import Synchronization

/// The downloads of a client that wait their turn: so many at a time, larger priority first.
///
/// ```swift
/// let queue = client.downloads
/// queue.limit = 3
/// try await queue.keepState(in: "/var/lib/app/downloads.json")   // takes up what a crash has left
/// let download = await queue.add(.get(url), to: .directory("/data"))
/// ```
///
/// A handle is an ordinary `Download`; the queue keeps it alive until it is done, so that nobody else has to.
public struct DownloadQueue: Sendable {
  let client: Client
  static let usualLimit = 4

  private var hub: DownloadHub { client.downloadHub }

  /// How many run at a time, at least 1; 4.
  public var limit: Int {
    get { hub.state.withLock { $0.turns.limit } }
    nonmutating set { hub.change { $0.set(limit: newValue) } }
  }

  /// How fast all downloads of the client together may be; nil for no limit.
  public var rateLimit: ByteRate? {
    get { hub.limiter.rate }
    nonmutating set { hub.limiter.set(newValue) }
  }

  /// How many run now.
  public var running: Int { hub.state.withLock { $0.turns.running.count } }
  /// How many wait for their turn.
  public var waiting: Int { hub.state.withLock { $0.turns.waitingCount } }
  /// Those that aren't done, in the order in which they came.
  public var all: [Download] {
    hub.state.withLock { state in state.held.sorted { $0.key < $1.key }.map(\.value) }
  }

  /// Adds a download; `DownloadOptions.priority` decides on its place. It starts when it is its turn.
  ///
  /// Returns when it is in the state file, where there is one. Plain GETs are kept there, without the fields that
  /// hold secrets and without `urlProvider`.
  @discardableResult public func add(
    _ request: Request, to target: DownloadTarget, _ options: DownloadOptions = DownloadOptions()
  ) async -> Download {
    let key = hub.newKey()
    let download = put(key, request, target, options)
    await hub.save()
    return download
  }

  private func put(
    _ key: Int, _ request: Request, _ target: DownloadTarget, _ options: DownloadOptions
  ) -> Download {
    if let entry = QueueRecord.Entry(key, request, target, options) {
      hub.state.withLock { $0.record.entries.append(entry) }
    }
    hub.change { $0.enter(key, priority: options.priority) }
    let download = client.startDownload(
      request, to: target, options, turn: DownloadTurn(hub: hub, key: key))
    hub.state.withLock { state in
      // It may have ended already.
      if download.result == nil { state.held[key] = download }
    }
    return download
  }

  /// Keeps the queue's state in this file from now on, and adds what it says of downloads that weren't done when
  /// an earlier process ended. Returns those.
  ///
  /// Downloads that were interrupted by the end of the process or by `Client.shutdown` are among them; those that
  /// succeeded, failed or were cancelled aren't.
  /// - Throws: `HTTPError.Kind.readFailed` for a file that is there and can't be understood,
  ///   `HTTPError.Kind.writeFailed` where it can't be written.
  @discardableResult public func keepState(in path: String) async throws(HTTPError) -> [Download] {
    let hub = hub
    let left = try await hub.queue.run { () throws(HTTPError) in
      let record = try QueueRecord.read(path)
      try record.write(to: path)
      return record.entries
    }
    hub.state.withLock { $0.statePath = path }
    let downloads = left.map { put(hub.newKey(), $0.request, $0.target, $0.options) }
    await hub.save()
    return downloads
  }
}

extension Client {
  /// The queue of this client's downloads.
  public var downloads: DownloadQueue { DownloadQueue(client: self) }
}
