internal import Glibc
internal import Synchronization

/// A small, fast HTTP/1.1 server for demos and benchmarks, with one thread for each connection.
///
/// | path | answer |
/// |---|---|
/// | `/bytes/N` | N bytes of `TestContent` with `Content-Length` |
/// | `/chunked/N?size=S` | the same N bytes in chunks of S (default 65536, at most 16 MiB) |
/// | `/slow/N?rate=R` | the same N bytes, R bytes a second (default 65536) |
/// | `/truncate/N` | `Content-Length: N`, half of it, then the end of the connection |
/// | `/drop/N` | `Content-Length: N`, half of it, then a reset |
/// | `/status/N` | status N (200…599) with a short body where it may have one |
/// | `/echo` | the body of the request, at most 256 MiB |
/// | `/headers` | JSON: the request's method, target and fields |
/// | `/events?count=N&interval=MS` | N server-sent events (0, the default: endless) every MS (default 100) |
/// | `/delay/MS` | an answer after MS milliseconds |
/// | `/redirect/N` | N redirects (302), then 200 |
/// | `/file/NAME` | a file from the root directory, with `Range`, `If-Range`, `If-None-Match` and `ETag` |
///
/// N may end in `k`, `m` or `g` (powers of 1024). Other paths get 404, bad numbers 400.
public final class ChunkServer: Sendable {
  private let listener: ConnectionListener
  private let address: ServerAddress
  private let counters = ChunkServerCounters()

  /// A server; `root` is the directory of `/file/…`, without which these are 404.
  public init(
    root: String? = nil, options: ServerOptions = ServerOptions()
  ) throws(TestServerError) {
    address = options.address
    listener = try ConnectionListener(options) { [counters] socket, listener in
      ChunkConnection(socket, of: listener, root: root, counters: counters).serve()
    }
  }

  deinit {
    listener.signalStop()
    for socket in listener.openSockets { socket.shutDown(SHUT_RDWR) }
  }

  /// The port that it listens on; 0 for a Unix socket.
  public var port: UInt16 { listener.port }

  /// Its origin, such as `http://127.0.0.1:40123`.
  public var url: String { address.origin(port: port) }

  /// The URL of a path on this server.
  public func url(_ path: String) -> String { url + (path.hasPrefix("/") ? path : "/" + path) }

  /// How many requests were answered or are being answered.
  public var requestCount: Int { counters.requests.load(ordering: .relaxed) }

  /// How many connections are open.
  public var openConnectionCount: Int { listener.openSockets.count }

  /// Stops. Answers that are on their way get the grace period to end; without one they are cut.
  /// Returns when all threads have ended and all descriptors are closed; may be called again.
  public func stop(gracePeriod: Duration = .zero) async {
    counters.isDraining.store(true, ordering: .sequentiallyConsistent)
    if gracePeriod > .zero {
      let deadline = ContinuousClock.Instant.after(gracePeriod)
      // A cancelled task does not wait.
      while counters.busy.load(ordering: .sequentiallyConsistent) > 0, ContinuousClock.now < deadline {
        do { try await Task.sleep(for: .milliseconds(2)) } catch { break }
      }
    }
    listener.signalStop()
    for socket in listener.openSockets { socket.shutDown(SHUT_RDWR) }
    await listener.stop()
  }
}

/// What the connections of one server share.
final class ChunkServerCounters: Sendable {
  let requests = Atomic(0)
  /// How many requests are being answered now.
  let busy = Atomic(0)
  /// Connections end behind their current answer.
  let isDraining = Atomic(false)
}
