internal import Glibc

/// One connection of a scripted server, for blocking code that runs on the connection's own thread.
///
/// All calls block until they are done, and are interrupted when the server stops (`TestServerError.stopped`)
/// or the peer closes (`.peerClosed`).
public final class ScriptedConnection {
  /// Its number: 0 is the first that the server accepted.
  public let index: Int
  /// Whether to go on when the peer has ended its sending side only.
  public var toleratesHalfClose = false

  let socket: AcceptedSocket
  let stopSignal: WakeSignal
  let log: ServerLog
  private let listener: ConnectionListener
  private let signals: NamedSignals
  private let bodyLimit: Int
  private var parser = RequestParser()
  private var scratch = [UInt8](repeating: 0, count: 64 << 10)
  private var hasPeerEnded = false
  /// The request whose body is still to be read.
  private var openRequest: (number: Int, record: RecordedRequest)?

  init(
    _ socket: AcceptedSocket, of listener: ConnectionListener, log: ServerLog, signals: NamedSignals,
    bodyLimit: Int
  ) {
    index = socket.index
    self.socket = socket
    self.listener = listener
    stopSignal = listener.stopSignal
    self.log = log
    self.signals = signals
    self.bodyLimit = bodyLimit
  }

  // MARK: Reading

  /// Reads one whole request and records it.
  @discardableResult
  public func readRequest() throws(TestServerError) -> RecordedRequest {
    try readHead()
    return try readBody()
  }

  /// Reads one whole request; nil if the peer closes in front of it.
  public func readRequestUnlessClosed() throws(TestServerError) -> RecordedRequest? {
    do throws(TestServerError) {
      return try readRequest()
    } catch .peerClosed(reset: false) where openRequest == nil && parser.isBetweenRequests {
      return nil
    }
  }

  /// Reads the head of a request and records it. A body that is still unread is read first.
  @discardableResult
  public func readHead() throws(TestServerError) -> RecordedRequest {
    if openRequest != nil { try readBody() }
    while true {
      if case .head(let head)? = try parser.next() {
        let record = RecordedRequest(
          connection: index, method: head.method, target: head.target, version: head.version,
          fields: head.fields, headBytes: head.bytes, headArrival: .now)
        log.update { state in
          openRequest = (state.requests.count, record)
          state.requests.append(record)
          return .head(connection: index, record)
        }
        return record
      }
      try receive()
    }
  }

  /// Reads the body of the request whose head was read last.
  @discardableResult
  public func readBody() throws(TestServerError) -> RecordedRequest {
    guard let open = openRequest else { throw .invalidArgument("readBody without readHead") }
    var record = open.record
    while true {
      switch try parser.next() {
      case .content(let bytes):
        record.bodyLength += bytes.count
        record.body += bytes.prefix(max(0, bodyLimit - record.body.count))
        record.rawBody += bytes.prefix(max(0, bodyLimit - record.rawBody.count))
      case .framing(let bytes):
        record.rawBody += bytes.prefix(max(0, bodyLimit - record.rawBody.count))
      case .end(let trailers):
        record.trailers = trailers
        record.completion = .now
        openRequest = nil
        log.update { state in
          state.requests[open.number] = record
          return .request(connection: index, record)
        }
        return record
      case .head, nil:
        try receive()
      }
    }
  }

  /// Reads exactly this many bytes, whatever they mean.
  @discardableResult
  public func read(exactly count: Int) throws(TestServerError) -> [UInt8] {
    var bytes = parser.takeRaw(upTo: max(0, count))
    while bytes.count < count {
      let received = try receiveSome(upTo: count - bytes.count)
      bytes += scratch[0..<received]
    }
    return bytes
  }

  /// Reads and drops everything until the peer closes.
  public func readUntilClose() throws(TestServerError) {
    while true {
      do throws(TestServerError) {
        _ = try receiveSome(upTo: scratch.count)
      } catch .peerClosed {
        return
      }
    }
  }

  /// Reads and drops at most `size` bytes every so often, until the peer closes.
  public func readSlowly(size: Int, every interval: Duration) throws(TestServerError) {
    guard size > 0 else { throw .invalidArgument("size") }
    while true {
      do throws(TestServerError) {
        // An orderly end may wait behind unread bytes; a reset ends the pause at once.
        try pause(until: .after(interval), watching: 0)
        _ = try receiveSome(upTo: size)
      } catch .peerClosed {
        return
      }
    }
  }

  private func receive() throws(TestServerError) {
    let count = try receiveSome(upTo: scratch.count)
    parser.append(scratch[0..<count])
  }

  /// Reads into the scratch buffer, at least one byte.
  private func receiveSome(upTo limit: Int) throws(TestServerError) -> Int {
    while true {
      try checkOpen()
      let count = recv(socket.descriptor, &scratch, min(limit, scratch.count), Int32(MSG_DONTWAIT))
      if count > 0 {
        log.update { state in
          state.connections[index].bytesReceived += Int64(count)
          return nil
        }
        return count
      }
      if count == 0 { throw notePeerClosed(reset: false) }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        if case .stopping = PollSet(socket.descriptor, events: PollSet.readable, stop: stopSignal).wait() {
          throw .stopped
        }
      case ECONNRESET, EPIPE: throw notePeerClosed(reset: true)
      default: throw .systemCall("recv", code: errno)
      }
    }
  }

  // MARK: Sending

  /// Sends text as UTF-8.
  public func send(_ text: String) throws(TestServerError) {
    try send(Array(text.utf8))
  }

  /// Sends bytes.
  public func send(_ bytes: [UInt8]) throws(TestServerError) {
    try bytes.span.withUnsafeBytes { (all) throws(TestServerError) in try send(all) }
  }

  /// Sends `count` bytes of `TestContent`, as fast as the peer takes them.
  public func sendContent(from offset: Int64 = 0, count: Int64) throws(TestServerError) {
    guard offset >= 0, count >= 0 else { throw .invalidArgument("offset or count") }
    let (start, total) = (Int(offset % Int64(TestContent.period)), count)
    let content = TestContent.block
    try content.span.withUnsafeBytes { (block) throws(TestServerError) in
      var (start, rest) = (start, total)
      while rest > 0 {
        let run = Int(min(rest, Int64(TestContent.longestRun)))
        try send(UnsafeRawBufferPointer(rebasing: block[start..<(start + run)]))
        rest -= Int64(run)
        start = (start + run) % TestContent.period
      }
    }
  }

  private func send(_ bytes: UnsafeRawBufferPointer) throws(TestServerError) {
    var sent = 0
    while sent < bytes.count {
      try checkOpen()
      let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
      let count = Glibc.send(
        socket.descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      if count >= 0 {
        sent += count
        log.update { state in
          state.connections[index].bytesSent += Int64(count)
          return nil
        }
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: try waitUntilWritable()
      case ECONNRESET, EPIPE: throw notePeerClosed(reset: true)
      default: throw .systemCall("send", code: errno)
      }
    }
  }

  private func waitUntilWritable() throws(TestServerError) {
    // A short wait is the normal way of a fast transfer; a long one means that the peer does not read.
    if try waitForSocket(PollSet.writable, until: .now + .milliseconds(50)) { return }
    log.update { state in
      state.connections[index].isSendBlocked = true
      state.connections[index].wasSendBlocked = true
      return .sendBlocked(connection: index)
    }
    defer {
      log.update { state in
        state.connections[index].isSendBlocked = false
        return .sendResumed(connection: index)
      }
    }
    _ = try waitForSocket(PollSet.writable, until: nil)
  }

  // MARK: Waiting

  /// Waits.
  public func wait(_ duration: Duration) throws(TestServerError) {
    try pause(until: .after(duration), watching: PollSet.peerEnded)
  }

  /// Waits until the test calls `signal(_:)` or `open(_:)` with this name; an earlier signal counts.
  public func waitForSignal(_ name: String) throws(TestServerError) {
    let signal = try signals.named(name)
    while !signal.take() {
      try checkOpen()
      _ = try waitForSocket(0, until: nil, signal: signal)
    }
  }

  /// Does nothing until the peer closes or the server stops.
  public func stall() throws(TestServerError) {
    while true {
      do throws(TestServerError) {
        _ = try waitForSocket(0, until: nil)
      } catch .peerClosed {
        return
      }
    }
  }

  private func pause(until deadline: ContinuousClock.Instant, watching events: Int16) throws(TestServerError)
  {
    try checkOpen()
    while ContinuousClock.now < deadline {
      _ = try waitForSocket(0, until: deadline, watchesEnd: events != 0)
    }
  }

  /// Waits for events of the socket, or for a signal; false if the deadline passed. The end of the peer throws.
  private func waitForSocket(
    _ events: Int16, until deadline: ContinuousClock.Instant?, signal: WakeSignal? = nil,
    watchesEnd: Bool = true
  ) throws(TestServerError) -> Bool {
    let watched = hasPeerEnded || !watchesEnd ? 0 : PollSet.peerEnded
    let set = PollSet(socket.descriptor, events: events | watched, stop: stopSignal, signal: signal)
    switch set.wait(until: deadline) {
    case .stopping: throw .stopped
    case .timedOut: return false
    case .signalled: return true
    case .ready(let seen):
      if seen & PollSet.broken != 0 { throw notePeerClosed(reset: isReset(seen)) }
      if seen & PollSet.peerEnded != 0 {
        let error = notePeerClosed(reset: false)
        if !toleratesHalfClose { throw error }
      }
      return true
    }
  }

  private func isReset(_ events: Int16) -> Bool {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(socket.descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
    return code != 0 || events & Int16(POLLERR) != 0
  }

  private func notePeerClosed(reset: Bool) -> TestServerError {
    hasPeerEnded = true
    log.update { state in
      let known = state.connections[index]
      if known.peerClosedAt == nil { state.connections[index].peerClosedAt = .now }
      if reset { state.connections[index].wasReset = true }
      // An orderly end is told once; a reset behind it is news.
      guard known.peerClosedAt == nil || (reset && !known.wasReset) else { return nil }
      return .peerClosed(connection: index, reset: reset)
    }
    return .peerClosed(reset: reset)
  }

  private func checkOpen() throws(TestServerError) {
    guard socket.isOpen else { throw .closedLocally }
    if listener.isStopping { throw .stopped }
  }

  // MARK: Closing

  /// Closes with a reset (RST). Unsent bytes are lost.
  public func reset() { socket.reset() }

  /// Ends the sending side (FIN); reading goes on.
  public func halfClose() { socket.shutDown(SHUT_WR) }

  /// Ends the sending side, lets the peer finish for up to a second, and closes.
  public func close() { socket.closeGracefully(unless: stopSignal) }

  /// Closes at once; the kernel answers with a reset if there are unread bytes.
  public func closeAtOnce() { socket.close() }

  /// Whether this side is still open.
  public var isOpen: Bool { socket.isOpen }
}
