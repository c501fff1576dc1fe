/// A download under way. Copies are the same download; it is cancelled when the last one goes.
///
/// ```swift
/// let download = client.download(.get(url), to: .file("big.iso"))
/// for try await event in download.events { … }
/// let file = try await download.value
/// ```
public final class Download: Sendable {
  private let state: DownloadState
  private let control: DownloadControl

  init(state: DownloadState, control: DownloadControl) {
    self.state = state
    self.control = control
  }

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

  /// Ends it: no file appears. What had come stays as a part where a later download can continue it (see
  /// `DownloadOptions.resume`), and is removed otherwise.
  public func cancel() { state.cancel() }

  /// Ends it and removes what had come.
  public func discard() {
    control.discard()
    state.cancel()
  }

  /// Holds it: nothing more is taken from the network until `resume`.
  ///
  /// With `keepingConnection` the server is held back and may lose patience; else the connections are closed, and
  /// `resume` asks for the rest anew. A download that can't be continued keeps its connection in either case.
  public func pause(keepingConnection: Bool = false) { control.pause(keepingConnection: keepingConnection) }

  /// Lets it go on after `pause`.
  public func resume() { control.gate.resume() }

  /// Whether it is held.
  public var isPaused: Bool { control.gate.isPaused }

  /// Limits its speed from now on; nil lifts the limit. It applies beside that of `Client.downloads`.
  public func setRateLimit(_ rate: ByteRate?) { control.limiter.set(rate) }

  /// The limit of its speed.
  public var rateLimit: ByteRate? { control.limiter.rate }

  /// The ranges that are on their way now, in order; a look four times a second.
  public var segments: [SegmentProgress] { control.segments }
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
  /// for nor taken off unless `DownloadOptions.decodesContent` says so.
  ///
  /// Connections that are lost, stall or end early are taken up where they were, and so is what an earlier,
  /// interrupted download has left, as far as the server says by a strong validator that nothing has changed
  /// (`DownloadOptions.resume`); else it begins again, which the event `restarted` tells.
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
    startDownload(request, to: target, options, calls: calls, turn: nil)
  }

  /// `turn` is waited for before anything is done, and told when all is done.
  func startDownload(
    _ request: Request, to target: DownloadTarget, _ options: DownloadOptions, calls: FileCalls = .system,
    turn: DownloadTurn?
  ) -> Download {
    let state = DownloadState()
    let control = DownloadControl(rate: options.rateLimit)
    let run = DownloadRun(
      client: self, request: request, target: target, options: options, state: state, control: control,
      calls: calls)
    state.run {
      await turn?.take()
      // What is paused must see that there is nothing to go on with.
      let key = ending.whenEnded { control.gate.open() }
      await run.run()
      ending.forget(key)
      await turn?.give(state.result)
    }
    return Download(state: state, control: control)
  }
}
