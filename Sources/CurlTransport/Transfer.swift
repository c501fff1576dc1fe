import PollLoop
import StreamCore
import Synchronization

/// All that one exchange needs: the request, both streams, its state, its place on a loop.
///
/// Made by the caller's task; from `start` on everything but the two arrows back (`readerWantsMore`,
/// `readerLeft`) happens on the loop thread, inside libcurl's callbacks or the loop's turn.
final class Transfer: AdmissionTicket, @unchecked Sendable {
  // Sendable: the constants are; all variables belong to the loop thread.
  let request: TransportRequest
  let url: CurlURL
  let storage: ResponseBodyStorage
  let upload: UploadStorage?
  let profile: EasyProfile
  /// Where to connect to in place of the URL's host.
  let override: AddressOverride?
  /// Whether its connection isn't one of those that a host may have for calls: long-lived, or libcurl counts
  /// the connections of many hosts as one's.
  @safe @exclusivity(unchecked) var countsBeyondHostLimit: Bool
  /// How many there are in the process, for tests of what is left behind.
  static let live = Atomic<Int>(0)
  private let loop: CurlLoop
  var turn: LoopTurn { loop.turn }

  // One thread and no callback into user code: checking each access at run time finds nothing and costs much.
  @safe @exclusivity(unchecked) var machine: TransferStateMachine
  @safe @exclusivity(unchecked) var deadlines: TransferDeadlines
  @safe @exclusivity(unchecked) var easy: EasyHandle?
  var timer: TimerToken?
  /// Its place in the loop's list of running transfers.
  @safe @exclusivity(unchecked) var position: Int?
  /// The name whose look-up it leads.
  @safe @exclusivity(unchecked) var lookup: String?
  /// It waits for a look-up that another leads.
  var isAwaitingLookup = false
  var isCountedWaiting = false
  /// Its last socket could not be opened for lack of a descriptor.
  @safe @exclusivity(unchecked) var lacksDescriptor = false
  /// When that happened first.
  @safe @exclusivity(unchecked) var starvedSince: UInt64?
  var feeder: Task<Void, Never>?
  @safe @exclusivity(unchecked) private var parser: HeaderBlockParser
  @safe @exclusivity(unchecked) private var provisional: ResponseHead?
  @safe @exclusivity(unchecked) private(set) var status: HTTPStatus?
  @safe @exclusivity(unchecked) private(set) var version: HTTPVersion?
  /// The sockets that were opened since it was sent last.
  @safe @exclusivity(unchecked) var opened: [OpenSocket] = []
  /// Whether its connection is one of HTTP/2, as ALPN says.
  @safe @exclusivity(unchecked) var isOnHTTP2 = false
  /// How many connections were opened for it, and whether the last sending was the first stream of one.
  var openedConnections = 0
  var wasOnFreshStream = false
  /// Whether its handle has sent it.
  var isHandleUsed = false
  /// Whether a line of a head has come.
  @safe @exclusivity(unchecked) private(set) var hasHeadBegun = false
  /// Whether it is one of those whose answers may be lost unnoticed.
  @safe @exclusivity(unchecked) var isWatchedForAnswer = false
  /// It met a connection of another protocol than the one that it wants.
  var metOtherProtocol = false
  /// Our port of the connection in use: tells connections to one origin apart.
  @safe @exclusivity(unchecked) private(set) var localPort: Int32 = 0
  @safe @exclusivity(unchecked) private(set) var received: Int64 = 0
  /// How far it is, for whoever leaves it from another thread.
  let stage = Atomic<UInt8>(0)
  /// The final head, once there is a status.
  private let delivered = DeliveredHead()
  @safe @exclusivity(unchecked) private var needsFlush = false
  /// Body bytes since the reader was woken.
  @safe @exclusivity(unchecked) private var unflushed = 0
  @safe @exclusivity(unchecked) private var receivedThisTurn = 0

  /// The lines that the cookie store has lent.
  @safe @exclusivity(unchecked) var lentCookies: [String] = []
  /// Whether a head has brought cookies.
  @safe @exclusivity(unchecked) var hasNewCookies = false

  let room: ReceiveRoom

  init(
    request: TransportRequest, options: CopyOnWrite<TransportOptions>, url: CurlURL,
    storage: ResponseBodyStorage, upload: UploadStorage?, profile: EasyProfile, room: ReceiveRoom,
    loop: CurlLoop, loopIndex: Int
  ) {
    self.profile = profile
    override = options.value.addressing.override(host: url.host, port: url.port)
    countsBeyondHostLimit =
      options.value.isLongLived || override != nil
      || options.value.proxy.map { !$0.tunnels(isSecure: url.isSecure) } ?? false
    self.room = room
    self.request = request
    self.url = url
    self.storage = storage
    self.upload = upload
    self.loop = loop
    // libcurl forgets trailers with the first sending (see `EasyHandle.setPace`).
    let mayReplay =
      (request.method.isIdempotent || options.value.mayReplayUnsafe)
      && request.body.trailers == nil
    machine = TransferStateMachine(allowedSends: mayReplay ? Self.mostSends : 1, hasUpload: upload != nil)
    deadlines = TransferDeadlines(
      limits: options.value.pacedTimeouts,
      spans: options.value.bytesPerSecond == nil ? options.value.limits : nil,
      called: LoopExecutor.monotonicNow(), isLongLived: options.value.isLongLived)
    // Many streams that stay are better packed when theirs is made with the head.
    parser = HeaderBlockParser(limit: options.value.headLimit, reserves: !options.value.isLongLived)
    let isPinned = options.value.version == .http1_1
    Self.live.wrappingAdd(1, ordering: .relaxed)
    super.init(
      origin: isPinned ? url.origin + " 1.1" : url.origin, loop: loopIndex,
      isSecure: url.isSecure && !isPinned, isLongLived: options.value.isLongLived,
      priority: options.value.priority)
  }

  deinit { Self.live.wrappingSubtract(1, ordering: .relaxed) }

  override func post(_ command: CurlCommand) {
    if !loop.executor.post(self, command.rawValue) { loopHasStopped() }
  }

  /// The loop ended before the message came: nobody else will tell the reader.
  private func loopHasStopped() {
    upload?.close()
    storage.finish(.failure(error(.shutdown, "the client was shut down", phase: .queue)))
    storage.flush()
    loop.refused(self)
  }

  /// Puts the transfer on the list of those whose readers are woken at the end of the turn.
  func markForFlush() {
    guard !needsFlush else { return }
    needsFlush = true
    turn.flushList.append(self)
  }

  /// Its reader, if it is to be woken at the end of the turn.
  func newsTaker() -> SleepingReader? {
    needsFlush = false
    unflushed = 0
    receivedThisTurn = 0
    return storage.newsTaker()
  }

  /// Whether the reader is better woken a turn later, with more: a whole receive came at once, so there is
  /// likely more in the socket, and little waits yet.
  func mayFlushLater() -> Bool {
    defer { receivedThisTurn = 0 }
    return receivedThisTurn >= room.receive && unflushed < Self.flushSize && !machine.isHeld
      && machine.phase == .receiving
  }

  /// A reader of a fast body is woken for so many bytes at once.
  private static let flushSize = 384 << 10

  // MARK: errors

  func error(
    _ kind: HTTPError.Kind, _ message: String, advice: String? = nil, phase: HTTPError.Phase? = nil
  ) -> HTTPError {
    HTTPError(
      kind, phase: phase ?? machine.errorPhase, message: message, advice: advice, method: request.method,
      url: url.text, status: status, received: received, mayHaveBeenProcessed: machine.sends > 0)
  }

  // MARK: callbacks

  enum Receive { case taken, pause, refuse }

  func receive(_ bytes: UnsafeRawBufferPointer) -> Receive {
    if provisional != nil, !settleHead() { return .refuse }
    switch machine.bodyOffered(bytes.count) {
    case .refuse: return .refuse
    case .pause:
      if isOnHTTP2 { easy?.watchEnd() }
      return .pause
    case .take: break
    }
    turn.progress &+= 1
    deadlines.progressed(at: turn.now)
    received += Int64(bytes.count)
    receivedThisTurn += bytes.count
    unflushed += bytes.count
    let action = unsafe storage.append(bytes)
    markForFlush()
    switch action {
    case .ignore: return .refuse
    case .keep: break
    case .keepAndHold:
      if !machine.isHeld { turn.heldList.append(self) }
      if isOnHTTP2 { turn.mayHaveHeldStreams = true }
      machine.hold(allowance: room.overshoot)
    }
    return .taken
  }

  func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    turn.progress &+= 1
    deadlines.progressed(at: turn.now)
    hasHeadBegun = true
    switch unsafe parser.line(line) {
    case .none:
      return machine.refusal == nil
    case .head(let head):
      // A status line after a provisional head takes its place.
      provisional = nil
      noteCookies(head)
      if head.status.isInformational, head.status != 101 {
        storage.deliver(.informational(head))
        markForFlush()
        return true
      }
      if head.status == 417, machine.sends == 1, request.headers.contains("Expect") {
        // The server has refused to look at the request: it may be sent again whatever its method.
        machine.allowOneMoreSend()
        provisional = head
        return true
      }
      if answersProxyChallenge, head.status == 407, machine.sends <= 2 {
        // libcurl answers the challenge; the proxy has passed nothing on.
        machine.allowOneMoreSend()
        provisional = head
        return true
      }
      return deliver(head)
    case .trailers(let fields):
      storage.deliver(.trailers(fields))
      markForFlush()
      return true
    case .failure(let failure):
      let (kind, message) = TransferMessages.header(failure)
      machine.refuse(error(kind, message, phase: .head))
      return false
    }
  }

  private func settleHead() -> Bool {
    guard let head = provisional.take() else { return true }
    return deliver(head)
  }

  private func deliver(_ head: ResponseHead) -> Bool {
    let framing = ResponseFraming(head, method: request.method)
    if case .invalid(let why) = framing {
      status = head.status
      machine.refuse(error(.malformedResponse, why, phase: .head))
      return false
    }
    guard machine.headArrived() == .deliver else { return false }
    status = head.status
    version = head.version
    if head.version != .http2 { easy?.connection?.speaksWhenAsked = true }
    var facts = easy?.facts(queued: queuedTime) ?? ExchangeFacts()
    if head.version == .http2, CurlGlobal.hidesCutStreams { facts.connection.tellsCutStreams = false }
    if profile.tls.keepsCertificates, url.isSecure { noteCertificates(&facts.connection) }
    // Before anybody can ask for the next hop.
    returnCookies()
    delivered.fill(head, facts, framing)
    storage.deliver(.head(delivered))
    if isSecure {
      loop.learned(self, isHTTP2: head.version == .http2)
    }
    markForFlush()
    if upload != nil { askForEnd() }
    if head.status.code >= 300, machine.isSendPaused {
      // HTTP/1 would never report the end of a paused upload.
      post(.feed)
    }
    return true
  }

  func send(into buffer: UnsafeMutableRawBufferPointer) -> UploadStorage.Read {
    guard let upload, machine.refusal == nil else { return .abort }
    if isUploadUseless {
      uploadEnded()
      return .end
    }
    let result = unsafe upload.read(into: request.sharedOptions.value.paced(buffer))
    switch result {
    case .bytes:
      turn.progress &+= 1
      deadlines.progressed(at: turn.now)
      storage.uploaded(upload.sent)
      if request.sharedOptions.value.reportsUpload { markForFlush() }
      endUploadIfAllSent()
    case .pause:
      machine.sendStarved()
      watchForLostAnswer()
    case .end: uploadEnded()
    case .abort: break
    }
    return result
  }

  /// libcurl doesn't ask for the end of a body whose length it knows.
  private func endUploadIfAllSent() {
    if let upload, let length = upload.length, upload.sent >= length { uploadEnded() }
  }

  private func uploadEnded() {
    machine.uploadEnded()
    reach(.head)
    deadlines.requestSent(at: turn.now)
    if status != nil { askForEnd() }
  }

  func requestStarts(on connection: KnownConnection?, localPort: Int32) -> Bool {
    self.localPort = localPort
    turn.lookupEnded(self, resolved: false)
    if isOnOtherProtocol {
      metOtherProtocol = true
      return false
    }
    let repeats = repeatsOnHTTP2
    switch machine.requestStarts(isConnectionFit: !repeats && connection?.isFit(poller) ?? true) {
    case .send:
      isHandleUsed = true
      reach(upload == nil ? .head : .request)
      if machine.sends > 1, !isRewound() {
        machine.refuse(
          error(
            .bodyNotReplayable, "the request must be sent again", advice: "Give a body that can be read again"
          ))
        return false
      }
      loop.connected(self)
      deadlines.requestSent(at: turn.now)
      if upload?.length == 0 { endUploadIfAllSent() }
      return true
    case .refuseReplay:
      machine.refuse(
        error(
          .connectionLost, "the connection was lost before an answer came",
          advice: "The server may have acted on the request; send it again only if that does no harm"))
      return false
    case .refuse, .refuseConnection:
      return false
    }
  }

  var poller: Poller { loop.executor.poller }

  func socketOpens() -> Bool {
    if repeatsOnHTTP2 {
      machine.wantsNewStart()
      return false
    }
    let action = machine.socketOpens()
    turn.lookupEnded(self, resolved: true)
    return action == .open
  }

  // MARK: end

  var queuedTime: Duration { .nanoseconds(Int64(clamping: deadlines.queued)) }

  /// Everything the reader gets at a successful end.
  func completion() -> ExchangeEnding {
    if provisional != nil, !settleHead() {
      return .failure(machine.refusal ?? error(.malformedResponse, "the answer has no usable head"))
    }
    if case .trailers(let fields) = parser.finish() { storage.deliver(.trailers(fields)) }
    guard status != nil else {
      // libcurl takes an end inside the head for a good one.
      return .failure(
        error(
          .truncated, "the connection ended inside the head of the answer", advice: "Try again", phase: .head)
      )
    }
    if let failure = upload?.failure {
      return .failure(failure.naming(method: request.method, url: url.text))
    }
    return .counted(
      ExchangeTotals(
        total: easy?.totalTime(queued: queuedTime) ?? delivered.facts.timings.total, received: received,
        sent: upload?.sent ?? 0))
  }

  /// What was promised, for an error about a cut body.
  var promised: Int64? {
    if case .length(let length) = delivered.framing(request.method) { return length }
    return nil
  }
}

extension Transfer: LoopMessageReceiver {
  func receive(_ code: UInt8) {
    guard let command = CurlCommand(rawValue: code) else { return }
    loop.onThread((command, self)) { $0.handle($1.0, $1.1) }
  }
}
