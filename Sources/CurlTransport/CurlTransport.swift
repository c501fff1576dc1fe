import PollLoop
package import StreamCore
import Synchronization

/// The transport over libcurl: checks a request, picks its loop, and puts it through that loop's door.
package final class CurlTransport: Transport {
  /// Settings that hold for all exchanges.
  package struct Configuration: Sendable {
    package var loops = CurlTransport.defaultLoops
    package var admission = AdmissionLimits()
    package var memoryBudget = 256 << 20
    package var keptConnections = 256
    /// Name look-ups under way at once, over all loops.
    package var lookups = 16
    /// How long kept connections stay.
    package var age = ConnectionAge()

    package init() {}
  }

  /// Half the cores, at least one, at most four.
  package static var defaultLoops: Int { min(4, max(1, ProcessorCount.online / 2)) }

  private enum State {
    case idle
    case running([CurlLoop])
    case closed([CurlLoop])

    var loops: [CurlLoop] {
      switch self {
      case .idle: []
      case .running(let loops), .closed(let loops): loops
      }
    }
  }

  var currentLoops: [CurlLoop] { state.withLock { $0.loops } }
  private let state = Mutex(State.idle)
  private let configuration: Configuration
  let admission: Admission
  private let pool = SlabPool()
  private let budget: MemoryBudget
  private let profiles: ProfileCache

  package init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    admission = Admission(limits: configuration.admission)
    budget = MemoryBudget(limit: max(1, configuration.memoryBudget))
    profiles = ProfileCache(age: configuration.age)
  }

  deinit {
    // Only signals: open responses keep their loop until they end.
    for loop in state.withLock({ $0.loops }) { loop.executor.closeWhenIdle() }
  }

  package func open(_ request: TransportRequest) throws(HTTPError) -> Exchange {
    try RequestCheck.check(request)
    let url = try CurlURL(request.url)
    if !url.isSecure, request.sharedOptions.value.version == .http2 {
      throw HTTPError(
        .invalidConfiguration, phase: .queue,
        message: "there is no HTTP/2 without TLS, and nothing else is wanted",
        advice: "Use an https URL, or allow HTTP/1.1", method: request.method, url: url.text)
    }
    let loops = try startedLoops(url)
    if request.body.needsOpening {
      var opened = request
      opened.body = try FileBody.opened(request.body.made().streamedForTrailers, request)
      return try start(opened, url, loops)
    }
    return try start(request, url, loops)
  }

  private func start(
    _ request: TransportRequest, _ url: CurlURL, _ loops: [CurlLoop]
  ) throws(HTTPError) -> Exchange {
    let profile = try profiles.profile(for: request)
    let options = request.sharedOptions
    let room = ReceiveRoom(options.value.watermark, isSecure: url.isSecure)
    let upload = Self.upload(request)
    let storage = ResponseBodyStorage(
      pool: pool, budget: budget, watermark: room.watermark,
      reportsUpload: upload != nil && options.value.reportsUpload && !request.body.isEmpty)
    let index = pick(url, among: loops)
    let transfer = Transfer(
      request: request, options: options, url: url, storage: storage, upload: upload, profile: profile,
      room: room, loop: loops[index], loopIndex: index)
    storage.attach(transfer)
    upload?.attach { [weak transfer] in transfer?.post(.feed) }
    let exchange = Exchange(
      storage, watermark: options.value.watermark, url: url.text, uploadLength: request.body.length)
    switch admission.enter(transfer) {
    case .start: transfer.post(.start)
    case .wait: transfer.post(.watch)
    case .refuse: throw Self.closed(request)
    }
    return exchange
  }

  private static func upload(_ request: TransportRequest) -> UploadStorage? {
    switch request.body.content {
    case .empty:
      // RFC 9110 §8.6: such a method says that its content is empty.
      guard request.method.expectsContent else { return nil }
      let upload = UploadStorage(length: 0)
      upload.fill(.empty)
      return upload
    case .bytes(let chunk):
      if chunk.isEmpty, !request.method.expectsContent { return nil }
      let upload = UploadStorage(length: Int64(chunk.count))
      upload.fill(chunk)
      return upload
    case .stream, .file, .deferred:
      return UploadStorage(length: request.body.length)
    }
  }

  /// What is asked for on a loop stays there: no thread is woken for it. Else an origin stays on its loop, so that
  /// connections are shared, until that loop has much more to do.
  private func pick(_ url: CurlURL, among loops: [CurlLoop]) -> Int {
    guard loops.count > 1 else { return 0 }
    if let own = loops.firstIndex(where: { $0.executor.isOnLoopThread }) { return own }
    let home = Int(bitPattern: UInt(bitPattern: url.host.hashValue) % UInt(loops.count))
    let homeLoad = loops[home].turn.load.load(ordering: .relaxed)
    guard homeLoad >= Self.spillLoad else { return home }
    let loads = loops.map { $0.turn.load.load(ordering: .relaxed) }
    guard let least = loads.indices.min(by: { loads[$0] < loads[$1] }), loads[least] * 2 < homeLoad else {
      return home
    }
    return least
  }

  private static let spillLoad = 64

  private func startedLoops(_ url: CurlURL) throws(HTTPError) -> [CurlLoop] {
    let result: Result<[CurlLoop], HTTPError> = state.withLock { state in
      switch state {
      case .running(let loops): return .success(loops)
      case .closed:
        return .failure(
          HTTPError(.shutdown, phase: .queue, message: "the client was shut down", url: url.text))
      case .idle:
        do throws(HTTPError) {
          let loops = try makeLoops()
          state = .running(loops)
          return .success(loops)
        } catch {
          return .failure(error)
        }
      }
    }
    return try result.get()
  }

  private func makeLoops() throws(HTTPError) -> [CurlLoop] {
    let count = max(1, configuration.loops)
    let relief = DescriptorRelief()
    var loops: [CurlLoop] = []
    for index in 0..<count {
      do {
        let loop = try CurlLoop(
          index: index, admission: admission, lookups: max(1, configuration.lookups / count),
          keptConnections: configuration.keptConnections,
          connectionsPerHost: configuration.admission.perHost, age: configuration.age,
          budget: budget, relief: relief)
        try loop.run()
        relief.join(loop)
        loops.append(loop)
      } catch {
        for loop in loops { loop.executor.closeWhenIdle() }
        throw error
      }
    }
    return loops
  }

  private static func closed(_ request: TransportRequest) -> HTTPError {
    HTTPError(
      .shutdown, phase: .queue, message: "the client was shut down", method: request.method, url: request.url)
  }

  /// Takes no more requests.
  package func close() { state.withLock { $0 = .closed($0.loops) } }

  /// Ends the transport: with `immediately` everything under way fails, else it is waited for. Returns when
  /// all loop threads have ended. Harmless when called again.
  package func shutdown(immediately: Bool) async {
    let loops = state.withLock { state in
      let loops = state.loops
      state = .closed(loops)
      return loops
    }
    if immediately {
      admission.close()
      for loop in loops { await loop.failAll() }
    }
    for loop in loops { loop.executor.closeWhenIdle() }
    for loop in loops { await loop.executor.waitUntilStopped() }
    admission.close()
    // With the loops their descriptors go.
    state.withLock { $0 = .closed([]) }
  }

  /// Runs a closure with a loop as the executor of its tasks: no thread hop for what they await. Numbers go round.
  package func onLoop<Value: Sendable, Failure: Error>(
    _ number: Int, _ body: @concurrent @Sendable () async throws(Failure) -> Value
  ) async throws -> Value {
    let loops = try startedLoops(CurlURL("http://loop/"))
    return try await withTaskExecutorPreference(loops[number % loops.count].tasks) { try await body() }
  }

  /// Transfers that exist, in this whole process; for tests of what is left behind.
  package static var liveTransfers: Int { Transfer.live.load(ordering: .relaxed) }

  /// What its loops have counted: turns, and wake-ups from other threads; for tests of what a call costs.
  package var loopCounts: (turns: Int, wakeUps: Int) {
    currentLoops.map(\.executor.metrics).reduce((0, 0)) { ($0.0 + $1.turns, $0.1 + $1.wakeUpsWritten) }
  }

  /// Running calls, long-lived exchanges, and those that wait for admission.
  package var counts: (running: Int, longLived: Int, waiting: Int) { admission.counts }
  /// Body bytes held for readers, and pooled slabs that somebody holds.
  package var memory: (buffered: Int, slabs: Int) { (budget.used, pool.live) }
}
