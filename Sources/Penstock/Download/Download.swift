/// A download under way. Copies are the same download; it is cancelled when the last one goes.
///
/// ```swift
/// let download = client.download(.get(url), to: .file("big.iso"))
/// for try await event in download.events { … }
/// let file = try await download.value
/// ```
public final class Download: Sendable {
  private let state: DownloadState

  init(state: DownloadState) { self.state = state }

  deinit { state.cancel() }

  /// The file, once it is whole and under its name. Any number of tasks may wait for it.
  ///
  /// Cancelling a waiting task throws `HTTPError.Kind.cancelled` there. When it was the only one that waited,
  /// the download ends too, and what had come is removed before this throws; a file that has its name already
  /// is still returned.
  /// - Throws: why there is no file.
  public var value: DownloadedFile {
    get async throws(HTTPError) {
      // The handle stays while somebody waits, as its end is the download's.
      defer { withExtendedLifetime(self) {} }
      return try await state.waitForResult()
    }
  }

  /// What happens, for any number of observers: each sees `started` and the end, and the latest progress
  /// between.
  public var events: DownloadEvents { DownloadEvents(state: state, download: self) }

  /// How far it is now.
  public var progress: TransferProgress { state.progress }

  /// How it has ended; nil while it runs.
  public var result: Result<DownloadedFile, HTTPError>? { state.result }

  /// How many wait for `value` now.
  var waiting: Int { state.waiting }

  /// Ends it: no file appears, and what had come is removed.
  public func cancel() { state.cancel() }
}

/// The events of a download, for one observer. Leaving it doesn't end the download.
public struct DownloadEvents: AsyncSequence, Sendable {
  /// One happening.
  public typealias Element = DownloadEvent
  /// Nothing is thrown: a failure is the last event.
  public typealias Failure = Never

  let state: DownloadState
  /// Keeps the download alive while it is observed.
  let download: Download

  /// An observer of its own, who sees everything from the start.
  public func makeAsyncIterator() -> Iterator { Iterator(state: state, download: download) }

  /// Hands out the events.
  public struct Iterator: AsyncIteratorProtocol {
    let state: DownloadState
    let download: Download
    private var position = DownloadStateMachine.Position()

    init(state: DownloadState, download: Download) {
      self.state = state
      self.download = download
    }

    /// The next event; nil after the last one, or when the observing task is cancelled.
    public mutating func next() async -> DownloadEvent? { await state.next(&position) }

    /// The next event, without leaving the caller's actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> DownloadEvent? {
      await next()
    }
  }
}

extension Client {
  /// Downloads to a file, with progress; it starts at once.
  ///
  /// Bytes go to "NAME.part" beside the file, are synced, and get the final name when they are whole: no
  /// failure, cancellation or crash leaves half a file under it. A status outside 2xx touches no file and
  /// fails with `HTTPError.Kind.httpStatus` and the beginning of the body. Content codings are neither asked
  /// for nor taken off.
  public func download(
    _ request: Request, to target: DownloadTarget, _ options: DownloadOptions = DownloadOptions()
  ) -> Download {
    download(request, to: target, options, calls: .system)
  }

  /// The same on a disk of the caller's, for tests.
  func download(
    _ request: Request, to target: DownloadTarget, _ options: DownloadOptions = DownloadOptions(),
    calls: FileCalls
  ) -> Download {
    let state = DownloadState()
    let run = DownloadRun(
      client: self, request: request, target: target, options: options, state: state, calls: calls)
    state.run { await run.run() }
    return Download(state: state)
  }
}
