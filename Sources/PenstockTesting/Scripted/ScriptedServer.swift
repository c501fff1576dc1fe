/// A raw HTTP/1 server on the loopback interface that does exactly what a script says, byte by byte, and records
/// what came. It has one thread for each connection.
///
/// ```swift
/// let server = try ScriptedServer(script: [
///   .expectRequest,
///   .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"),
///   .waitForSignal("go on"),
///   .reset,
/// ])
/// // … let the client load server.url("/x") …
/// server.signal("go on")
/// await server.stop()
/// ```
///
/// Call `stop()` at the end; a server that is dropped stops too, a little later.
public final class ScriptedServer: Sendable {
  private let listener: ConnectionListener
  private let address: ServerAddress
  private let log = ServerLog()
  private let signals = NamedSignals()

  /// A server that runs the same script on every connection.
  public convenience init(script: Script, options: ServerOptions = ServerOptions()) throws(TestServerError) {
    try self.init(scripts: [script], options: options)
  }

  /// A server that runs the first script on the first connection, and so on; the last one repeats.
  public convenience init(
    scripts: [Script], options: ServerOptions = ServerOptions()
  ) throws(TestServerError) {
    guard let last = scripts.last else { throw .invalidArgument("scripts") }
    try self.init(options: options) { connection in
      let script = connection.index < scripts.count ? scripts[connection.index] : last
      connection.toleratesHalfClose = script.toleratesHalfClose
      try connection.run(script.steps)
    }
  }

  /// A server that chooses the steps for each request; connections are kept open until a step closes them.
  public convenience init(
    options: ServerOptions = ServerOptions(), respond: @escaping @Sendable (RecordedRequest) -> [Step]
  ) throws(TestServerError) {
    try self.init(options: options) { connection in
      while connection.isOpen, let request = try connection.readRequestUnlessClosed() {
        try connection.run(respond(request))
      }
    }
  }

  /// A server that runs blocking code for each connection, on the connection's own thread. The connection is
  /// closed when the code returns or throws.
  public init(
    options: ServerOptions = ServerOptions(),
    handler: @escaping @Sendable (ScriptedConnection) throws -> Void
  ) throws(TestServerError) {
    address = options.address
    let accepted = { @Sendable [log] (index: Int) in
      log.update { state in
        state.connections.append(ConnectionRecord(index: index, acceptedAt: .now))
        return .accepted(connection: index)
      }
    }
    listener = try ConnectionListener(options, accepted: accepted) { [log, signals] socket, listener in
      let connection = ScriptedConnection(
        socket, of: listener, log: log, signals: signals, bodyLimit: options.recordedBodyLimit)
      var failure: TestServerError?
      do {
        try handler(connection)
      } catch let error as TestServerError {
        failure = error
      } catch {
        failure = .invalidArgument("handler: \(error)")
      }
      connection.close()
      log.update { state in
        state.connections[socket.index].scriptEndedAt = .now
        state.connections[socket.index].error = failure
        return .scriptEnded(connection: socket.index, error: failure)
      }
    }
  }

  deinit {
    listener.signalStop()
    log.end()
  }

  // MARK: Address

  /// The port that it listens on; 0 for a Unix socket.
  public var port: UInt16 { listener.port }

  /// Its origin, such as `http://127.0.0.1:40123`.
  public var url: String { address.origin(port: port) }

  /// The URL of a path on this server.
  public func url(_ path: String) -> String { url + (path.hasPrefix("/") ? path : "/" + path) }

  // MARK: Control

  /// Releases one connection that waits for this signal, now or when it comes to wait.
  public func signal(_ name: String) { try? signals.named(name).release() }

  /// Releases all connections that wait for this signal, now and later.
  public func open(_ name: String) { try? signals.named(name).open() }

  /// Stops at once: scripts end where they are, connections are closed. Returns when all threads have ended and
  /// all descriptors are closed; may be called again.
  public func stop() async {
    await listener.stop()
    signals.close()
    log.end()
  }

  // MARK: What came

  /// All requests whose heads have come, in that order; `completion` is nil while a body is still coming.
  public var requests: [RecordedRequest] { log.snapshot.requests }

  /// All connections that were accepted, in that order.
  public var connections: [ConnectionRecord] { log.snapshot.connections }

  /// How many connections were accepted.
  public var connectionCount: Int { log.snapshot.connections.count }

  /// How many connections are open on this side.
  public var openConnectionCount: Int { log.snapshot.connections.count { $0.isOpen } }

  /// How many bytes the kernel took to be sent on a connection; 0 for one that does not exist.
  public func bytesSent(connection: Int = 0) -> Int64 {
    log.snapshot.connections.element(connection)?.bytesSent ?? 0
  }

  /// How many bytes were read from a connection; 0 for one that does not exist.
  public func bytesReceived(connection: Int = 0) -> Int64 {
    log.snapshot.connections.element(connection)?.bytesReceived ?? 0
  }

  /// Everything that happened so far and then happens, in order, until the server stops. Each call gives a
  /// stream of its own.
  public func events() -> AsyncStream<ScriptedServerEvent> { log.events() }

  // MARK: Waiting

  /// Waits until at least `count` connections were accepted.
  @discardableResult
  public func waitForConnections(
    _ count: Int, timeout: Duration = .seconds(10)
  ) async throws(TestServerError) -> [ConnectionRecord] {
    try await log.wait(for: "\(count) connections", timeout: timeout) { $0.connections.count >= count }
      .connections
  }

  /// Waits until no connection is open on this side.
  public func waitForAllClosed(timeout: Duration = .seconds(10)) async throws(TestServerError) {
    _ = try await log.wait(for: "all connections to close", timeout: timeout) { state in
      state.connections.allSatisfy { !$0.isOpen }
    }
  }

  /// Waits until at least `count` whole requests have come; returns those.
  @discardableResult
  public func waitForRequests(
    _ count: Int, timeout: Duration = .seconds(10)
  ) async throws(TestServerError) -> [RecordedRequest] {
    try await log.wait(for: "\(count) requests", timeout: timeout) { state in
      state.requests.count { $0.completion != nil } >= count
    }.requests.filter { $0.completion != nil }
  }

  /// Waits until at least `count` heads of requests have come; returns all requests.
  @discardableResult
  public func waitForHeads(
    _ count: Int, timeout: Duration = .seconds(10)
  ) async throws(TestServerError) -> [RecordedRequest] {
    try await log.wait(for: "\(count) heads", timeout: timeout) { $0.requests.count >= count }.requests
  }

  /// Waits until the peer of a connection has ended its side or reset the connection; returns when that was
  /// seen.
  @discardableResult
  public func waitForPeerClose(
    connection: Int = 0, timeout: Duration = .seconds(10)
  ) async throws(TestServerError) -> ContinuousClock.Instant {
    let record = try await waitForConnection(connection, "peer close", timeout) { $0.peerClosedAt != nil }
    return record.peerClosedAt ?? .now
  }

  /// Waits until sending on a connection has stood still for 50 ms, since the peer does not read.
  @discardableResult
  public func waitForSendBlocked(
    connection: Int = 0, timeout: Duration = .seconds(10)
  ) async throws(TestServerError) -> ConnectionRecord {
    try await waitForConnection(connection, "send to block", timeout) { $0.isSendBlocked }
  }

  /// Waits until a connection's script has ended.
  @discardableResult
  public func waitForScriptEnd(
    connection: Int = 0, timeout: Duration = .seconds(10)
  ) async throws(TestServerError) -> ConnectionRecord {
    try await waitForConnection(connection, "script to end", timeout) { !$0.isOpen }
  }

  /// Waits until at least `count` bytes were read from a connection.
  public func waitForBytesReceived(
    _ count: Int64, connection: Int = 0, timeout: Duration = .seconds(10)
  ) async throws(TestServerError) {
    _ = try await waitForConnection(connection, "\(count) bytes", timeout) { $0.bytesReceived >= count }
  }

  private func waitForConnection(
    _ index: Int, _ what: String, _ timeout: Duration,
    until isMet: @escaping @Sendable (ConnectionRecord) -> Bool
  ) async throws(TestServerError) -> ConnectionRecord {
    let state = try await log.wait(for: "\(what) on connection \(index)", timeout: timeout) { state in
      state.connections.element(index).map(isMet) ?? false
    }
    guard let record = state.connections.element(index) else { throw .invalidArgument("connection") }
    return record
  }
}

extension Array {
  /// The element at an index, or nil where there is none.
  func element(_ index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
