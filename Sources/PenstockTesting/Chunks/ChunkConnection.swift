internal import Glibc
internal import Synchronization

/// One connection of a chunk server. Sockets are blocking, so a small request costs one `recv` and one `send`;
/// the server interrupts them by shutting the socket down.
final class ChunkConnection {
  /// The connection has to end: the peer has gone, or the server stops.
  struct Ended: Error {}

  let root: String?
  private let socket: AcceptedSocket
  private let listener: ConnectionListener
  private let counters: ChunkServerCounters
  private var parser = RequestParser()
  private var scratch = [UInt8](repeating: 0, count: 64 << 10)

  init(
    _ socket: AcceptedSocket, of listener: ConnectionListener, root: String?, counters: ChunkServerCounters
  ) {
    self.socket = socket
    self.listener = listener
    self.root = root
    self.counters = counters
  }

  func serve() {
    do throws(Ended) {
      // A connection that the stopping server did not see yet must not wait for a request.
      while !listener.isStopping, let head = try readHead() {
        counters.requests.add(1, ordering: .relaxed)
        counters.busy.add(1, ordering: .sequentiallyConsistent)
        defer { counters.busy.subtract(1, ordering: .sequentiallyConsistent) }
        guard try answer(head), head.keepsAlive, !counters.isDraining.load(ordering: .relaxed) else { break }
      }
    } catch {}
    socket.closeGracefully(unless: listener.stopSignal)
  }

  /// The next head, or nil when the connection is at its end.
  private func readHead() throws(Ended) -> RequestParser.Head? {
    while true {
      let output: RequestParser.Output?
      do throws(TestServerError) {
        output = try parser.next()
      } catch {
        try send(
          ChunkResponseHead.text(status: 400, fields: [("Content-Length", "0"), ("Connection", "close")]))
        return nil
      }
      if case .head(let head)? = output { return head }
      guard try receive() else { return nil }
    }
  }

  /// Reads the body up to a limit of bytes; nil if it is longer.
  func readBody(_ head: RequestParser.Head, limit: Int) throws(Ended) -> [UInt8]? {
    if head.expectsContinue, parser.isEmpty { try send("HTTP/1.1 100 Continue\r\n\r\n") }
    var body: [UInt8] = []
    while true {
      let output: RequestParser.Output?
      do throws(TestServerError) { output = try parser.next() } catch { throw Ended() }
      switch output {
      case .content(let bytes):
        guard body.count + bytes.count <= limit else { return nil }
        body += bytes
      case .end: return body
      case .framing: continue
      case .head, nil: guard try receive() else { throw Ended() }
      }
    }
  }

  /// Reads and drops the body.
  func skipBody() throws(Ended) {
    while true {
      let output: RequestParser.Output?
      do throws(TestServerError) { output = try parser.next() } catch { throw Ended() }
      if case .end? = output { return }
      if output == nil, try !receive() { throw Ended() }
    }
  }

  /// Reads some bytes; false at the end of the stream.
  private func receive() throws(Ended) -> Bool {
    while true {
      let count = recv(socket.descriptor, &scratch, scratch.count, 0)
      if count > 0 {
        parser.append(scratch[0..<count])
        return true
      }
      if count == 0 { return false }
      if errno != EINTR { throw Ended() }
    }
  }

  // MARK: Sending

  func send(_ text: String) throws(Ended) { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8], more: Bool = false) throws(Ended) {
    try bytes.span.withUnsafeBytes { (all) throws(Ended) in try send(all, more: more) }
  }

  private func send(_ bytes: UnsafeRawBufferPointer, more: Bool = false) throws(Ended) {
    let flags = Int32(MSG_NOSIGNAL) | (more ? Int32(MSG_MORE) : 0)
    var sent = 0
    while sent < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
      let count = Glibc.send(socket.descriptor, rest.baseAddress, rest.count, flags)
      if count >= 0 {
        sent += count
      } else if errno != EINTR {
        throw Ended()
      }
    }
  }

  /// Sends generated content behind `head`, whose bytes go out with the first of it.
  func sendContent(head: String = "", from offset: Int64 = 0, count: Int64, more: Bool = false) throws(Ended)
  {
    var head = Array(head.utf8)
    if !head.isEmpty, count <= 64 << 10 {
      let start = Int(offset % Int64(TestContent.period))
      head += TestContent.block[start..<(start + Int(count))]
      return try send(head, more: more)
    }
    try send(head, more: true)
    let content = TestContent.block
    try content.span.withUnsafeBytes { (block) throws(Ended) in
      var (start, rest) = (Int(offset % Int64(TestContent.period)), count)
      while rest > 0 {
        let run = Int(min(rest, Int64(TestContent.longestRun)))
        try send(UnsafeRawBufferPointer(rebasing: block[start..<(start + run)]), more: more)
        rest -= Int64(run)
        start = (start + run) % TestContent.period
      }
    }
  }

  /// Sends bytes of an open file; false if it turned out shorter.
  func sendFile(_ file: Int32, from offset: Int64, count: Int64) throws(Ended) -> Bool {
    var position = off_t(offset)
    let end = off_t(offset + count)
    while position < end {
      // SIGPIPE is blocked on this thread, and sendfile has no flag for it.
      let sent = sendfile(socket.descriptor, file, &position, Int(min(end - position, 1 << 30)))
      if sent == 0 { return false }
      if sent < 0, errno != EINTR { throw Ended() }
    }
    return true
  }

  // MARK: Waiting and closing

  /// Waits; ends when the peer goes or the server stops.
  func wait(until deadline: ContinuousClock.Instant) throws(Ended) {
    let set = PollSet(socket.descriptor, events: PollSet.peerEnded, stop: listener.stopSignal)
    guard case .timedOut = set.wait(until: deadline) else { throw Ended() }
  }

  func reset() { socket.reset() }
}
