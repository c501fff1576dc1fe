import CurlTransport

/// A streaming HTTP client. Cheap to copy: copies share connections, limits and loops.
///
/// ```swift
/// let client = Client()
/// let response = try await client.send(.get("https://host/big.iso"))
/// for try await chunk in response.body { … }
/// ```
///
/// When the last copy goes, its loops end as soon as the last open response has; `shutdown` ends all at once.
public struct Client: Sendable {
  /// What all copies share, so that a copy is one reference.
  private final class Core: Sendable {
    let configuration: ClientConfiguration
    let encoder: RequestEncoder
    let transport: any Transport
    let curl: CurlTransport?
    /// The transport itself, when nothing wraps it.
    let direct: CurlTransport?
    let downloadHub = DownloadHub()
    let ending = ClientEnding()
    let stages: PipelineStages
    let base: BaseURL?
    let observers: [any ExchangeObserver]
    let api: CopyOnWrite<APIDefaults>
    let headers: HTTPFields
    /// Single settings that every call asks for: a look at one of `configuration` copies all of it.
    let hsts: HSTSStore?
    let decodesContent: Bool
    let timeouts: TimeLimits
    let redirects: RedirectPolicy

    init(_ configuration: ClientConfiguration, _ transport: any Transport, _ curl: CurlTransport?) {
      self.configuration = configuration
      self.transport = transport
      self.curl = curl
      direct = transport as? CurlTransport
      encoder = RequestEncoder(configuration)
      stages = PipelineStages(configuration, ending)
      base = configuration.api.baseURL.map(BaseURL.init)
      observers = configuration.observers
      api = CopyOnWrite(configuration.api)
      headers = configuration.headers
      hsts = configuration.hsts
      decodesContent = configuration.decodesContent
      timeouts = configuration.timeouts
      redirects = configuration.redirects
    }
  }

  private let core: Core
  /// The settings that it was made with.
  public var configuration: ClientConfiguration { core.configuration }
  var encoder: RequestEncoder { core.encoder }
  func open(_ request: TransportRequest) throws(HTTPError) -> Exchange {
    // Nearly all clients are on their own transport: no existential is copied for them.
    if let direct = core.direct { return try direct.open(request) }
    return try core.transport.open(request)
  }
  var stages: PipelineStages { core.stages }
  var hsts: HSTSStore? { core.hsts }
  var decodesContent: Bool { core.decodesContent }
  var timeouts: TimeLimits { core.timeouts }
  var redirects: RedirectPolicy { core.redirects }
  var base: BaseURL? { core.base }
  var api: CopyOnWrite<APIDefaults> { core.api }
  /// The fields that all requests get unless they have them.
  var defaultHeaders: HTTPFields { core.headers }
  var observers: [any ExchangeObserver] { core.observers }
  var curl: CurlTransport? { core.curl }
  var downloadHub: DownloadHub { core.downloadHub }
  var ending: ClientEnding { core.ending }

  /// A client of its own loops and connections; they are made with the first request.
  public init(configuration: ClientConfiguration = ClientConfiguration()) {
    let curl = CurlTransport(configuration.transportConfiguration)
    core = Core(configuration, curl, curl)
  }

  /// A client whose own transport is wrapped by another, which sees all exchanges: a recorder, a fault injector.
  public init(configuration: ClientConfiguration, wrapping wrap: (any Transport) -> any Transport) {
    let curl = CurlTransport(configuration.transportConfiguration)
    core = Core(configuration, wrap(curl), curl)
  }

  /// A client over another transport, for tests.
  public init(transport: any Transport, configuration: ClientConfiguration = ClientConfiguration()) {
    core = Core(configuration, transport, transport as? CurlTransport)
  }

  /// One client for scripts that need no settings. It lives as long as the process.
  public static let shared = Client()

  /// Sends a request; returns when the final head is there, while the body is still on its way.
  ///
  /// Any status is a response; nothing of the body is read ahead beyond the watermark. Dropping the response
  /// ends the exchange.
  ///
  /// - Throws: `HTTPError`: bad input before any byte is sent, `cancelled` when the task is cancelled, and
  ///   whatever went wrong up to the head. What goes wrong later is thrown by the body.
  public func send(_ request: Request) async throws(HTTPError) -> Response {
    let request = try resolved(request)
    if let observation = Observation.begun(request, self) { return try await send(request, observation) }
    let run = PipelineRun(request, client: self, reportsUpload: false)
    while true {
      if case .response(let response) = try await run.next() { return response }
    }
  }

  /// The fields that a request gets, defaults included, for traces. Print them by `description`, which cuts
  /// secrets.
  public func headers(for request: Request) -> HTTPFields {
    RequestEncoder.headers(request, configuration, EncodedBody.fields(of: request))
  }

  /// Everything that happens in an exchange, as one lossless, ordered stream. It is cold: iterating it sends
  /// the request, once; a second iteration throws `HTTPError.Kind.alreadyConsumed` and sends nothing. A failure is
  /// thrown by the iteration as an `HTTPError`.
  public func events(_ request: Request) -> TransferEvents { TransferEvents(request, client: self) }

  /// Runs a closure on the first of the client's loops. What it asks for stays on that loop and is served without a
  /// thread hop: best for many small calls one after another. Connections are shared with what else runs on that
  /// loop. Don't block in the closure, and keep long computations out of it: all exchanges of that loop wait
  /// meanwhile.
  ///
  /// - Throws: what the closure throws, and `HTTPError.Kind.shutdown` after a shutdown.
  public func onLoop<Value: Sendable>(
    _ body: @concurrent @Sendable () async throws -> Value
  ) async throws -> Value {
    guard let curl else { return try await body() }
    return try await curl.onLoop(0, body)
  }

  /// How a client ends.
  public enum Shutdown: Sendable {
    /// New requests fail, running ones are waited for.
    case graceful
    /// Everything under way fails with `HTTPError.Kind.shutdown`.
    case immediate
  }

  /// Ends the client and returns when its threads have ended. Later requests fail with
  /// `HTTPError.Kind.shutdown`; a second call is harmless.
  public func shutdown(_ how: Shutdown = .graceful) async {
    guard let curl else { return }
    curl.close()
    // Calls between two attempts can't make another one.
    core.ending.end()
    await curl.shutdown(immediately: how == .immediate)
  }

  /// How many exchanges there are now.
  public struct Gauges: Sendable, Hashable {
    /// Running calls.
    public let running: Int
    /// Running long-lived exchanges.
    public let longLived: Int
    /// Waiting for admission.
    public let waiting: Int
    /// Body bytes that wait for their readers.
    public let bufferedBytes: Int
  }

  /// A snapshot of the client's load; all zero on a transport that isn't libcurl's.
  public var gauges: Gauges {
    let counts = curl?.counts
    return Gauges(
      running: counts?.running ?? 0, longLived: counts?.longLived ?? 0, waiting: counts?.waiting ?? 0,
      bufferedBytes: curl?.memory.buffered ?? 0)
  }
}
