internal import Glibc
internal import StreamCore
internal import Synchronization

/// A listening socket with one thread that accepts and one thread a connection. The accepting thread joins the
/// others, so that once it has ended nothing is left.
final class ConnectionListener: Sendable {
  private struct State {
    var nextIndex = 0
    var threads: [Int: SystemThread] = [:]
    var finished: [Int] = []
    var sockets: [Int: AcceptedSocket] = [:]
    var acceptThread: SystemThread?
    var hasEnded = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  typealias Accept4 =
    @convention(c) (
      Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?, Int32
    ) -> Int32

  /// accept4 is hidden without _GNU_SOURCE, and accept cannot set close-on-exec at once.
  private static let accept4 = dlsym(nil, "accept4").map { unsafeBitCast($0, to: Accept4.self) }

  let port: UInt16
  /// Readable for ever once the server is to stop.
  let stopSignal: WakeSignal
  private let stopping = Atomic(false)
  private let endOfConnection: WakeSignal
  private let address: ServerAddress
  private let listening: Int32
  private let accepted: @Sendable (Int) -> Void
  private let serve: @Sendable (AcceptedSocket, ConnectionListener) -> Void
  private let state = Mutex(State())

  /// Listens and starts to accept. For each connection `accepted` is called in their order, then `serve` on a
  /// thread of its own.
  init(
    _ options: ServerOptions, accepted: @escaping @Sendable (Int) -> Void = { _ in },
    serve: @escaping @Sendable (AcceptedSocket, ConnectionListener) -> Void
  ) throws(TestServerError) {
    stopSignal = try WakeSignal()
    endOfConnection = try WakeSignal()
    address = options.address
    self.accepted = accepted
    self.serve = serve
    listening = try Self.openSocket(options)
    do throws(TestServerError) {
      port = try options.address.port(of: listening)
    } catch {
      close(listening)
      throw error
    }
    do throws(TestServerError) {
      let thread = try SystemThread { [self] in acceptConnections() }
      state.withLock { $0.acceptThread = thread }
    } catch {
      close(listening)
      throw error
    }
  }

  deinit {
    // Nobody waited for the end: let the accepting thread free itself.
    state.withLock { $0.acceptThread }?.detach()
  }

  var isStopping: Bool { stopping.load(ordering: .acquiring) }

  /// The connections that are open now.
  var openSockets: [AcceptedSocket] { state.withLock { Array($0.sockets.values) } }

  /// Asks all threads to end; returns at once.
  func signalStop() {
    stopping.store(true, ordering: .releasing)
    stopSignal.open()
  }

  /// Stops, and returns when all threads have ended and all descriptors are closed.
  func stop() async {
    signalStop()
    await withCheckedContinuation { continuation in
      let hasEnded = state.withLock { state in
        if !state.hasEnded { state.waiters.append(continuation) }
        return state.hasEnded
      }
      if hasEnded { continuation.resume() }
    }
    // Its last act was to wake us, so this takes microseconds.
    let thread = state.withLock { state in
      defer { state.acceptThread = nil }
      return state.acceptThread
    }
    thread?.join()
  }

  private func acceptConnections() {
    while !isStopping {
      let ready = PollSet(
        listening, events: PollSet.readable, stop: stopSignal, signal: endOfConnection
      ).wait()
      if case .stopping = ready { break }
      joinFinished()
      guard case .ready = ready else { continue }
      acceptOne()
    }
    close(listening)
    address.cleanUp()
    for thread in state.withLock({ Array($0.threads.values) }) { thread.join() }
    stopSignal.close()
    endOfConnection.close()
    let waiters = state.withLock { state in
      state.hasEnded = true
      state.threads = [:]
      state.finished = []
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  private func acceptOne() {
    let descriptor: Int32
    if let accept4 = Self.accept4 {
      descriptor = accept4(listening, nil, nil, Int32(SOCK_CLOEXEC.rawValue))
    } else {
      descriptor = accept(listening, nil, nil)
      if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    }
    guard descriptor >= 0 else {
      // Out of descriptors: the connection stays in the backlog, so wait a little rather than spin.
      if errno == EMFILE || errno == ENFILE {
        _ = PollSet(-1, events: 0, stop: stopSignal).wait(until: .now + .milliseconds(5))
      }
      return
    }
    Self.enable(TCP_NODELAY, level: Int32(IPPROTO_TCP), on: descriptor)
    // Only this thread counts.
    let index = state.withLock { $0.nextIndex }
    accepted(index)
    state.withLock { state in
      let socket = AcceptedSocket(index: index, descriptor: descriptor)
      state.nextIndex += 1
      do throws(TestServerError) {
        state.threads[socket.index] = try SystemThread { [self] in run(socket) }
        state.sockets[socket.index] = socket
      } catch {
        socket.close()
      }
    }
  }

  private func run(_ socket: AcceptedSocket) {
    serve(socket, self)
    socket.close()
    state.withLock { state in
      state.sockets[socket.index] = nil
      state.finished.append(socket.index)
    }
    endOfConnection.release()
  }

  private func joinFinished() {
    endOfConnection.drain()
    let threads = state.withLock { state in
      defer { state.finished = [] }
      return state.finished.compactMap { state.threads.removeValue(forKey: $0) }
    }
    for thread in threads { thread.join() }
  }

  private static func openSocket(_ options: ServerOptions) throws(TestServerError) -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(options.address.family, kind, 0)
    guard descriptor >= 0 else { throw .systemCall("socket", code: errno) }
    do throws(TestServerError) {
      enable(SO_REUSEADDR, level: SOL_SOCKET, on: descriptor)
      // Connections inherit the buffer sizes.
      if let size = options.sendBufferSize {
        try setBuffer(SO_SNDBUF, size, "sendBufferSize", on: descriptor)
      }
      if let size = options.receiveBufferSize {
        try setBuffer(SO_RCVBUF, size, "receiveBufferSize", on: descriptor)
      }
      try options.address.bind(descriptor)
      guard listen(descriptor, Int32(clamping: options.backlog)) == 0 else {
        throw TestServerError.systemCall("listen", code: errno)
      }
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func enable(_ option: Int32, level: Int32, on descriptor: Int32) {
    var one: Int32 = 1
    setsockopt(descriptor, level, option, &one, socklen_t(MemoryLayout<Int32>.size))
  }

  private static func setBuffer(
    _ option: Int32, _ size: Int, _ name: String, on descriptor: Int32
  ) throws(TestServerError) {
    guard var value = Int32(exactly: size), value > 0 else { throw .invalidArgument(name) }
    setsockopt(descriptor, SOL_SOCKET, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
