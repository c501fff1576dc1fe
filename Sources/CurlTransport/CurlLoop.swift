import PollLoop
import StreamCore
import Synchronization

/// One loop: a thread, a libcurl multi handle, and the transfers on it.
///
/// An actor whose executor is the loop thread. One turn: drain the door (messages and jobs) → wait → socket
/// actions → timers → finished transfers → wake the readers.
actor CurlLoop {
  nonisolated let executor: LoopExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }
  /// What tasks prefer that are to run on this loop.
  nonisolated let tasks: LoopTaskExecutor
  nonisolated let turn: LoopTurn
  private nonisolated let admission: Admission
  @safe @exclusivity(unchecked) var multi: MultiHandle?
  @safe @exclusivity(unchecked) var share: ShareHandle?
  @safe @exclusivity(unchecked) var idle = IdleHandles()
  @safe @exclusivity(unchecked) private var headers = HeaderListCache()
  @safe @exclusivity(unchecked) var running: [Transfer] = []
  /// Transfers that wait for admission or a look-up and have a timer here.
  @safe @exclusivity(unchecked) var waiting = 0
  /// Transfers whose callers have gone while libcurl still looks their name up.
  @safe @exclusivity(unchecked) var abandoned = 0
  @safe @exclusivity(unchecked) var timers = DeadlineTimers()
  @safe @exclusivity(unchecked) var nextUnmask: UInt64?
  @safe @exclusivity(unchecked) var hasFailedAll = false
  /// Readers to be woken, for the time of one call.
  @safe @exclusivity(unchecked) private var woken: [SleepingReader] = []
  /// How many connections a host may have for calls.
  let connectionsPerHost: Int
  let age: ConnectionAge
  let budget: MemoryBudget
  @safe @exclusivity(unchecked) var sweeps: SweepSchedule
  @safe @exclusivity(unchecked) var sweepTimer: SweepTimer?
  @safe @exclusivity(unchecked) var shortage = DescriptorShortage()
  let relief: DescriptorRelief
  /// Running transfers that may have a connection beside those.
  @safe @exclusivity(unchecked) var beyondHostLimit = 0
  static let shutdownMessage = "the client was shut down"

  init(
    index: Int, admission: Admission, lookups: Int, keptConnections: Int, connectionsPerHost: Int,
    age: ConnectionAge, budget: MemoryBudget, relief: DescriptorRelief
  )
    throws(HTTPError)
  {
    self.connectionsPerHost = connectionsPerHost
    self.age = age
    self.budget = budget
    self.relief = relief
    sweeps = SweepSchedule(age)
    do {
      executor = try LoopExecutor(name: "penstock-\(index)")
    } catch {
      throw HTTPError(.outOfResources, phase: .queue, message: "no event loop can be made: \(error)")
    }
    tasks = LoopTaskExecutor(executor)
    guard
      let multi = MultiHandle(poller: executor.poller, keptConnections: DescriptorLimit.kept(keptConnections))
    else {
      throw HTTPError(.outOfResources, phase: .queue, message: "libcurl can't be set up")
    }
    self.multi = multi
    self.share = ShareHandle()
    self.admission = admission
    turn = LoopTurn(lookupPlaces: lookups)
  }

  /// An exchange that the loop will never hear of gives its place back.
  nonisolated func refused(_ transfer: Transfer) { admission.leave(transfer) }

  /// The transfer's connection stands, so that libcurl knows its protocol: others may follow.
  nonisolated func connected(_ ticket: AdmissionTicket) { admission.connected(ticket) }

  /// The protocol of the transfer's host is known.
  nonisolated func learned(_ ticket: AdmissionTicket, isHTTP2: Bool) {
    admission.learned(ticket, isHTTP2: isHTTP2)
  }

  nonisolated func run() throws(HTTPError) {
    do {
      try executor.start(driver: self)
    } catch {
      throw HTTPError(.outOfResources, phase: .queue, message: "no loop thread can be started: \(error)")
    }
  }

  // MARK: commands, through the door

  func handle(_ command: CurlCommand, _ transfer: Transfer) {
    turn.now = LoopExecutor.monotonicNow()
    switch command {
    case .start: start(transfer)
    case .resume: resume(transfer)
    case .feed: feed(transfer)
    case .cancel: end(transfer, .failure(transfer.error(.cancelled, "cancelled")))
    case .shutdown:
      end(transfer, .failure(transfer.error(.shutdown, Self.shutdownMessage)))
    case .watch: watch(transfer)
    case .lookAgain: lookAgain(transfer)
    case .timer:
      transfer.timer = nil
      checkTime(transfer)
    }
  }

  private func watch(_ transfer: Transfer) {
    // Once: without a limit of time there is no timer to tell.
    guard transfer.machine.phase == .queued, !transfer.isCountedWaiting else { return }
    waiting += 1
    transfer.isCountedWaiting = true
    checkTime(transfer)
  }

  func start(_ transfer: Transfer) {
    guard transfer.machine.phase == .queued else { return }
    // Admitted before the client was shut down, but not here yet.
    if hasFailedAll { return end(transfer, .failure(transfer.error(.shutdown, Self.shutdownMessage))) }
    if let name = transfer.nameToLookUp {
      switch turn.lookups.enter(name, transfer, now: turn.now) {
      case .go: break
      case .lead: transfer.lookup = name
      case .wait:
        // Its connect limit runs from here; it stays queued until the look-up it waits for has ended.
        transfer.deadlines.began(at: turn.now)
        transfer.isAwaitingLookup = true
        watch(transfer)
        checkTime(transfer)
        return
      }
    }
    begin(transfer)
  }

  private func begin(_ transfer: Transfer) {
    guard transfer.machine.start() == .begin else { return }
    transfer.reach(.connect)
    stopWaiting(transfer)
    if !transfer.isAwaitingLookup { transfer.deadlines.began(at: turn.now) }
    guard let multi, let easy = handle(for: transfer.profile) else {
      return fail(transfer, "no handle for the exchange can be made")
    }
    if let code = easy.setUpFailure { return refuse(transfer, easy, code) }
    transfer.easy = easy
    guard let list = headers.list(for: transfer, easy), easy.prepare(transfer, headers: list)
    else { return fail(transfer, "the request can't be set up") }
    if needsOwnConnection(transfer) { easy.openFreshConnection() }
    let beyond = beyondHostLimit + (transfer.countsBeyondHostLimit ? 1 : 0)
    multi.setConnectionsPerHost(connectionsPerHost + beyond)
    multi.makeRoom(running: running.count + 1)
    if !waitsInLine(transfer), let reason = multi.add(easy) {
      return fail(transfer, "libcurl refused the exchange: \(reason)")
    }
    beyondHostLimit = beyond
    transfer.position = running.count
    running.append(transfer)
    turn.load.store(running.count, ordering: .relaxed)
    transfer.startFeeding()
    checkTime(transfer)
  }

  /// libcurl has no such option, or knows no such value.
  private func refuse(_ transfer: Transfer, _ easy: EasyHandle, _ code: Int) {
    let message = "libcurl refuses one of the options of TLS, proxy or addresses: \(easy.text(forCode: code))"
    end(transfer, .failure(transfer.error(.invalidConfiguration, message, phase: .queue)))
  }

  /// A failure of one transfer's set-up is its own, never the loop's.
  private func fail(_ transfer: Transfer, _ message: String) {
    end(transfer, .failure(transfer.error(.outOfResources, message)))
  }

  private func resume(_ transfer: Transfer) {
    // The time that the reader took isn't the peer's, whether libcurl was paused or only about to be.
    transfer.deadlines.progressed(at: turn.now)
    guard transfer.machine.readerWantsMore() == .unpause else { return }
    applyPauses(transfer)
  }

  private func feed(_ transfer: Transfer) {
    if transfer.machine.phase != .queued, let failure = transfer.upload?.failure {
      let named = failure.naming(method: transfer.request.method, url: transfer.url.text)
      return end(transfer, .failure(named))
    }
    guard transfer.machine.feederHasNews() == .unpause else { return }
    transfer.deadlines.progressed(at: turn.now)
    applyPauses(transfer)
  }

  func applyPauses(_ transfer: Transfer) {
    guard let easy = transfer.easy, transfer.position != nil else { return }
    let result = easy.setPaused(
      receiving: transfer.machine.isReceivePaused, sending: transfer.machine.isSendPaused)
    if result != 0 { return finished(transfer, code: result) }
    // Bytes already inside TLS raise no socket event: drive it once.
    multi?.runTimers()
  }

  /// Takes an exchange from wherever it is and tells its reader.
  func end(_ transfer: Transfer, _ ending: ExchangeEnding) {
    let mayHoldUnsent = transfer.mayHoldUnsent
    switch transfer.machine.cancel(isLookingUp: transfer.lookup != nil) {
    case .none: return
    case .abandon:
      abandoned += 1
      leave(transfer, ending)
    case .endQueued, .remove:
      if mayHoldUnsent { transfer.easy?.resetOnClose() }
      detachStream(transfer)
      leave(transfer, ending)
    }
  }

  /// Takes a transfer from libcurl so that the peer hears of it.
  ///
  /// Up to 8.0 libcurl keeps the RST_STREAM of a removed HTTP/2 stream back until something else is sent on the
  /// connection: a sibling is made to send, and without one the connection is closed.
  private func detachStream(_ transfer: Transfer) {
    guard CurlGlobal.keepsResetsBack, transfer.position != nil, transfer.mayShareConnection else {
      return detach(transfer)
    }
    let siblings = running.filter { $0 !== transfer && $0.sharesConnection(with: transfer) }
    if siblings.isEmpty { transfer.easy?.forbidReuse() }
    detach(transfer)
    guard let sibling = siblings.first(where: { !$0.machine.isReceivePaused }) ?? siblings.first,
      let easy = sibling.easy
    else { return }
    // Both change the stream's window, and that is sent at once with what waits before it.
    if !sibling.machine.isReceivePaused {
      _ = easy.setPaused(receiving: true, sending: sibling.machine.isSendPaused)
    }
    sibling.machine.reoffers()
    _ = easy.setPaused(receiving: false, sending: sibling.machine.isSendPaused)
    multi?.runTimers()
  }

  /// The reader, the feeder and the queue are done with it.
  func leave(_ transfer: Transfer, _ ending: ExchangeEnding) {
    stopWaiting(transfer)
    if let timer = transfer.timer.take() { timers.cancel(timer) }
    transfer.feeder?.cancel()
    transfer.upload?.close()
    // A body that was sent isn't kept for a reader who comes late.
    transfer.storage.finish(ending, leavesProducer: transfer.upload == nil)
    transfer.markForFlush()
    admission.leave(transfer)
  }

  /// libcurl is done with it: removed from the multi first, then recycled.
  func detach(_ transfer: Transfer) {
    turn.lookupEnded(transfer, resolved: false)
    if let position = transfer.position.take() {
      let last = running.removeLast()
      turn.load.store(running.count, ordering: .relaxed)
      if position < running.count {
        running[position] = last
        last.position = position
      }
      if transfer.countsBeyondHostLimit { beyondHostLimit -= 1 }
      if let easy = transfer.easy {
        if transfer.machine.isReceivePaused, transfer.mayShareConnection { easy.dropHeldBytes() }
        multi?.remove(easy)
      }
      connectionLeft()
      turn.mayHaveDescriptor = true
      multi?.makeRoom(running: running.count)
    }
    guard let easy = transfer.easy.take() else { return }
    easy.finish()
    // libcurl counts repeats over the life of a handle, and gives up at the sixth.
    if easy.isRecyclable, transfer.machine.sends <= 1 { idle.keep(easy) }
  }

  private func handle(for profile: EasyProfile) -> EasyHandle? {
    if let easy = idle.take(profile) { return easy }
    guard let share, let multi else { return nil }
    return EasyHandle(profile: profile, share: share, multi: multi)
  }

  private func stopWaiting(_ transfer: Transfer) {
    guard transfer.isCountedWaiting else { return }
    transfer.isCountedWaiting = false
    waiting -= 1
  }

  // MARK: time

  private func checkTime(_ transfer: Transfer) {
    let phase =
      transfer.isAwaitingLookup && transfer.machine.phase == .queued
      ? .resolving : transfer.machine.phase
    let check = transfer.deadlines.check(phase, isWaitingForUs: transfer.isWaitingForUs, now: turn.now)
    switch check {
    case .sleep(let until):
      guard let until else { return }
      if let timer = transfer.timer, timers.reschedule(timer, at: until) { return }
      transfer.timer = timers.schedule(at: until, receiver: transfer, code: CurlCommand.timer.rawValue)
    case .passed(let kind, let limit):
      if kind == .connectTimeout, transfer.starvedSince != nil {
        if hasPatience(transfer) {
          transfer.deadlines.began(at: turn.now)
          return checkTime(transfer)
        }
        let (message, advice) = TransferMessages.noDescriptor
        return end(transfer, .failure(transfer.error(.outOfResources, message, advice: advice)))
      }
      let (message, advice) = TransferMessages.timeout(kind, limit)
      end(transfer, .failure(transfer.error(kind, message, advice: advice)))
    case .promote:
      admission.promote(transfer)
      if !transfer.countsBeyondHostLimit, transfer.position != nil {
        transfer.countsBeyondHostLimit = true
        beyondHostLimit += 1
        multi?.setConnectionsPerHost(connectionsPerHost + beyondHostLimit)
      }
      checkTime(transfer)
    }
  }

  // MARK: the turn

  func finishMessages(now: UInt64) {
    turn.now = now
    startReleased()
    // Each new transfer asks to be driven at once, often twice.
    for _ in 0..<Self.timerRounds {
      guard let deadline = multi?.deadline, deadline <= now else { break }
      multi?.runTimers()
    }
    endOfTurn()
  }

  private static let timerRounds = 4

  func takeTurn(now: UInt64, events: UnsafeBufferPointer<PollEvent>) {
    turn.now = now
    guard let multi else { return }
    // Nothing more has come for those that waited for more.
    if events.isEmpty { wakeReaders(all: true) }
    for index in 0..<events.count {
      let event = unsafe events[index]
      guard executor.poller.isCurrent(event) else { continue }
      multi.handle(event, now: now, turn: turn)
    }
    if nextUnmask != nil || multi.maskedSockets > 0 { nextUnmask = multi.unmaskExpired(now: now) }
    if let deadline = multi.deadline, deadline <= now { multi.runTimers() }
    while let expired = timers.popExpired(now: now) { expired.receiver.receive(expired.code) }
    startReleased()
    endOfTurn()
  }

  func endOfTurn() {
    collectFinished()
    if turn.mayHaveDescriptor, !shortage.line.isEmpty { letFirstTry() }
    checkShortage()
    endUnanswered()
    pauseHeld()
    wakeReaders(all: false)
  }

  /// Wakes readers after the socket actions, once a turn and without a lock held. Some may wait for the next turn,
  /// which then only polls.
  private func wakeReaders(all: Bool) {
    guard !turn.flushList.isEmpty else { return }
    var list: [Transfer] = []
    swap(&list, &turn.flushList)
    for transfer in list {
      if !all, transfer.mayFlushLater() {
        turn.flushList.append(transfer)
      } else if let reader = transfer.newsTaker() {
        woken.append(reader)
      }
    }
    // Before the readers run: they are to be the last who hold what has ended.
    list.removeAll(keepingCapacity: true)
    if turn.flushList.isEmpty { swap(&list, &turn.flushList) }
    for reader in woken { reader.resume() }
    woken.removeAll(keepingCapacity: true)
  }

  /// Starts those that waited for a look-up.
  func startReleased() {
    while let released = turn.released.popLast() {
      let transfer = released.transfer
      guard transfer.machine.phase == .queued else {
        // It has left while it waited: the place goes to the next.
        if let name = released.leads { turn.lookupEnded(name: name, resolved: false) }
        continue
      }
      transfer.lookup = released.leads
      begin(transfer)
    }
  }
}
