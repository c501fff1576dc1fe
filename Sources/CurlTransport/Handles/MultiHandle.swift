import CCurl
import PollLoop

/// One libcurl multi handle, its sockets in the poller, and the one deadline that it asks for. Used on the
/// loop thread alone.
@safe final class MultiHandle {
  private let raw: UnsafeMutableRawPointer
  private let poller: Poller
  /// When libcurl wants to be called; nil: only when a descriptor is ready. 0: at once.
  @safe @exclusivity(unchecked) private(set) var deadline: UInt64?
  /// By descriptor.
  @safe @exclusivity(unchecked) private var sockets: [SocketInterest?] = []
  @safe @exclusivity(unchecked) private(set) var maskedSockets = 0
  private var connectionsPerHost = 0

  /// Idle connections that are kept, and what libcurl was told: it counts those in use, too.
  private let keptConnections: Int
  @safe @exclusivity(unchecked) private var connectionLimit = 0
  private let limitStep: Int
  /// Whether descriptors have run out while transfers run.
  @safe @exclusivity(unchecked) private(set) var isShort = false
  private var totalLimit = 0

  init?(poller: Poller, keptConnections: Int) {
    guard CurlGlobal.isReady, let raw = unsafe curl_multi_init() else { return nil }
    unsafe self.raw = raw
    self.poller = poller
    self.keptConnections = keptConnections
    limitStep = DescriptorLimit.kept(256)
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe cshims_multi_set_socket_function(raw, CurlCallbacks.socketInterest)
    unsafe cshims_multi_set_socket_data(raw, context)
    unsafe cshims_multi_set_timer_function(raw, CurlCallbacks.timer)
    unsafe cshims_multi_set_timer_data(raw, context)
    unsafe cshims_multi_set_pipelining(raw, Int(CURLPIPE_MULTIPLEX))
    makeRoom(running: 0)
    unsafe cshims_multi_set_max_concurrent_streams(raw, 100)
  }

  deinit { _ = unsafe curl_multi_cleanup(raw) }

  /// Lets libcurl keep connections beside those of the running transfers: at its limit it would close each one
  /// that becomes idle.
  func makeRoom(running: Int) {
    if isShort { return }
    let steps = (running + limitStep - 1) / limitStep
    let limit = keptConnections + steps * limitStep
    // A step back needs two, so that a number of transfers around a step doesn't change it all the time.
    if limit > connectionLimit || limit + limitStep < connectionLimit { keep(limit) }
  }

  /// Descriptors have run out: until `endShortage` there are no more connections than now. libcurl closes one that
  /// nobody uses for each new one, and lets wait what finds none.
  func holdConnections() {
    if !isShort {
      isShort = true
      // What waits in libcurl is given a connection that becomes free in its next round: none is closed before.
      keep(Self.noLimit)
    }
    setTotal(max(1, poller.openSockets))
  }

  /// Whether connections are closed as soon as nobody uses them, for others that have no descriptor.
  func giveAway(_ gives: Bool) {
    if isShort { keep(gives ? 1 : Self.noLimit) }
  }

  /// No transfer runs any more.
  func endShortage() {
    guard isShort else { return }
    isShort = false
    setTotal(0)
    closeUnused(downTo: keptConnections)
    makeRoom(running: 0)
  }

  /// Closes connections that nobody uses, at once and the oldest first: libcurl closes one for each transfer that wants
  /// a connection beyond the limit.
  func closeUnused(downTo kept: Int = 0) {
    guard poller.openSockets > kept, let sweep = SweepHandle(ConnectionAge()) else { return }
    let limit = totalLimit
    setTotal(1)
    var open = poller.openSockets
    while open > kept {
      sweep.run(on: self)
      // Those that are left are in use.
      guard poller.openSockets < open else { break }
      open = poller.openSockets
    }
    setTotal(limit)
  }

  private static let noLimit = 1 << 20

  private func keep(_ count: Int) {
    guard count != connectionLimit else { return }
    connectionLimit = count
    unsafe cshims_multi_set_max_connects(raw, count)
  }

  /// Some time has passed without a new want of descriptors: one more may be tried.
  func allowOneMore() {
    if isShort { setTotal(totalLimit + 1) }
  }

  private func setTotal(_ count: Int) {
    guard count != totalLimit else { return }
    totalLimit = count
    unsafe cshims_multi_set_max_total_connections(raw, count)
  }

  /// Adds a handle that is no exchange's.
  func add(raw easy: UnsafeMutableRawPointer) -> Bool { unsafe curl_multi_add_handle(raw, easy) == CURLM_OK }

  func remove(raw easy: UnsafeMutableRawPointer) { _ = unsafe curl_multi_remove_handle(raw, easy) }

  /// At most so many connections to one host; libcurl lets what is beyond wait. 0: no limit.
  func setConnectionsPerHost(_ count: Int) {
    guard count != connectionsPerHost else { return }
    connectionsPerHost = count
    unsafe cshims_multi_set_max_host_connections(raw, count)
  }

  /// Starts a transfer. Nil, or why it can't be started.
  func add(_ easy: EasyHandle) -> String? {
    let code = unsafe curl_multi_add_handle(raw, easy.raw)
    guard code != CURLM_OK else { return nil }
    return unsafe curl_multi_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code.rawValue)"
  }

  /// Ends a transfer; after that its callbacks are never called again.
  func remove(_ easy: EasyHandle) { _ = unsafe curl_multi_remove_handle(raw, easy.raw) }

  /// Does what is due by time, and drives transfers that have just been resumed.
  func runTimers() {
    deadline = nil
    var running: Int32 = 0
    _ = unsafe curl_multi_socket_action(raw, CURL_SOCKET_TIMEOUT, 0, &running)
  }

  /// Handles one ready descriptor.
  func handle(_ event: PollEvent, now: UInt64, turn: LoopTurn) {
    let progress = turn.progress
    var mask: Int32 = 0
    if event.readable { mask |= CURL_CSELECT_IN }
    if event.writable { mask |= CURL_CSELECT_OUT }
    if event.failed { mask |= CURL_CSELECT_ERR }
    var running: Int32 = 0
    _ = unsafe curl_multi_socket_action(raw, event.fd, mask, &running)
    guard event.writable, !event.failed, var interest = interest(of: event.fd) else {
      if event.readable { unmask(event.fd) }
      return
    }
    let action = interest.wasReady(
      readable: event.readable, progressed: turn.progress != progress, now: now)
    sockets[Int(event.fd)] = interest
    switch action {
    case .none: break
    case .maskWritable:
      maskedSockets += 1
      apply(event.fd, interest, isNew: false)
    }
  }

  /// The next transfer that libcurl has finished, and how.
  func nextFinished() -> (EasyHandle, Int)? {
    var left: Int32 = 0
    while let message = unsafe curl_multi_info_read(raw, &left) {
      guard unsafe message.pointee.msg == CURLMSG_DONE,
        let easy = unsafe cshims_message_easy(message)
      else { continue }
      let result = unsafe cshims_message_result(message)
      guard let handle = unsafe handle(of: easy) else { continue }
      return (handle, Int(result.rawValue))
    }
    return nil
  }

  /// Our object for one of libcurl's.
  func handle(of easy: UnsafeMutableRawPointer) -> EasyHandle? {
    var context: UnsafeMutablePointer<CChar>?
    guard unsafe cshims_get_private_data(easy, &context) == CURLE_OK, let context = unsafe context else {
      return nil
    }
    return unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
  }

  // MARK: called back by libcurl

  func setInterest(_ socket: Int32, readable: Bool, writable: Bool) {
    guard socket >= 0 else { return }
    guard readable || writable else {
      forget(socket)
      // A kept connection is likely to be wanted again: it stays registered (decision 10).
      poller.remove(fd: socket, mayLinger: true)
      return
    }
    let known = interest(of: socket)
    var interest = known ?? SocketInterest()
    let wasMasked = interest.isMasked
    interest.wants(readable: readable, writable: writable)
    if wasMasked, !interest.isMasked { maskedSockets -= 1 }
    keep(interest, of: socket)
    apply(socket, interest, isNew: known == nil)
  }

  /// The descriptor is about to be closed.
  func closed(_ socket: Int32) {
    forget(socket)
    poller.closed(fd: socket)
  }

  /// Whether libcurl wants to know of anything on the descriptor.
  func waits(for socket: Int32) -> Bool { interest(of: socket) != nil }

  private func interest(of socket: Int32) -> SocketInterest? {
    let index = Int(socket)
    return index < sockets.count ? sockets[index] : nil
  }

  private func keep(_ interest: SocketInterest, of socket: Int32) {
    let index = Int(socket)
    if index >= sockets.count {
      sockets.append(contentsOf: repeatElement(nil, count: max(64, index + 1 - sockets.count)))
    }
    sockets[index] = interest
  }

  private func forget(_ socket: Int32) {
    guard let interest = interest(of: socket) else { return }
    if interest.isMasked { maskedSockets -= 1 }
    sockets[Int(socket)] = nil
  }

  func setTimer(milliseconds: Int) {
    switch milliseconds {
    case ..<0: deadline = nil
    case 0: deadline = 0
    default: deadline = LoopExecutor.monotonicNow() &+ UInt64(milliseconds) &* 1_000_000
    }
  }

  // MARK: masking (an upload whose HTTP/2 window is exhausted would spin: see SocketInterest)

  private func apply(_ socket: Int32, _ interest: SocketInterest, isNew: Bool) {
    poller.set(
      fd: socket, readable: interest.pollsReadable, writable: interest.pollsWritable, isNew: isNew)
  }

  private func unmask(_ socket: Int32) {
    guard maskedSockets > 0, var interest = interest(of: socket), interest.isMasked else { return }
    interest.unmask()
    maskedSockets -= 1
    sockets[Int(socket)] = interest
    apply(socket, interest, isNew: false)
  }

  /// Lets masked descriptors be asked again; returns the next instant to do so.
  func unmaskExpired(now: UInt64) -> UInt64? {
    guard maskedSockets > 0 else { return nil }
    var next: UInt64?
    for (socket, interest) in sockets.enumerated() {
      guard let until = interest?.maskedUntil else { continue }
      if until <= now {
        unmask(Int32(socket))
      } else {
        next = min(next ?? until, until)
      }
    }
    return next
  }
}
