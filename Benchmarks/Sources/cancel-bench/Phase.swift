import Penstock
import PenstockTesting

/// Where an exchange stands when it is cancelled.
enum Phase: String, CaseIterable {
  case handshake = "TLS handshake, a silent peer"
  case head = "the head is owed"
  case idleBody = "idle body"
  case runningBody = "body running"
  case heldBody = "body held by its reader"
  case upload = "upload that nobody reads"
  case starvedUpload = "upload that waits for its source"

  var script: Script {
    switch self {
    case .handshake: [.stall]
    case .head: [.expectRequest, .stall]
    case .idleBody:
      [.expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"), .stall]
    case .runningBody, .heldBody:
      [
        .expectRequest, .head(fields: [("Transfer-Encoding", "chunked")]),
        .sendForever([UInt8](repeating: 120, count: 16384), chunked: true),
      ]
    case .upload, .starvedUpload: [.expectHead, .stall]
    }
  }

  func request(_ server: ScriptedServer) -> Request {
    switch self {
    case .handshake: return .get("https://127.0.0.1:\(server.port)/")
    case .head, .idleBody, .runningBody, .heldBody: return .get(server.url)
    case .upload: return .put(server.url, body: .bytes([UInt8](repeating: 1, count: 16 << 20)))
    case .starvedUpload:
      // Nothing ever comes out of it, and its end is never told.
      let (stream, sink) = AsyncStream.makeStream(of: [UInt8].self)
      sink.yield([1, 2, 3])
      sink.onTermination = { [sink] _ in _ = sink }
      return .put(server.url, body: .stream(stream))
    }
  }

  /// Waits until the exchange on the connection is there.
  func isReached(_ server: ScriptedServer, connection: Int) async throws {
    switch self {
    case .handshake: try await server.waitForConnections(connection + 1)
    case .head: try await server.waitForRequests(connection + 1)
    case .upload, .starvedUpload: try await server.waitForHeads(connection + 1)
    case .idleBody: while server.bytesSent(connection: connection) < 40 { await Task.yield() }
    case .runningBody: while server.bytesSent(connection: connection) < 1 << 20 { await Task.yield() }
    case .heldBody: try await server.waitForSendBlocked(connection: connection)
    }
  }
}
