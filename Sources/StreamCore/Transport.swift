import Synchronization

/// Carries one exchange at a time over the wire, or plays one in a test.
///
/// Everything that Penstock does (decoding, redirects, retries, auth) is layered on this one call.
public protocol Transport: Sendable {
  /// Starts an exchange. Returns at once; what happens comes out of the exchange.
  /// - Throws: an error when the request can't be sent as it is, before any byte is.
  func open(_ request: TransportRequest) throws(HTTPError) -> Exchange
}

/// A request as a transport gets it: everything is decided, nothing is defaulted.
public struct TransportRequest: Sendable {
  /// The method.
  public var method: HTTPMethod
  /// The absolute URL.
  public var url: String
  /// All header fields, but for those that the transport makes (Host, Content-Length, Transfer-Encoding).
  public var headers: HTTPFields
  /// The content.
  public var body: RequestBody
  /// How to carry it.
  public var options: TransportOptions {
    get { sharedOptions.value }
    set { sharedOptions.value = newValue }
  }
  /// The same, for whoever carries it on without a copy.
  package var sharedOptions: CopyOnWrite<TransportOptions>

  /// A request from its parts.
  public init(
    method: HTTPMethod, url: String, headers: HTTPFields = [:], body: RequestBody = .empty,
    options: TransportOptions = .init()
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    sharedOptions = CopyOnWrite(options)
  }

  package init(
    method: HTTPMethod, url: String, headers: HTTPFields, body: RequestBody,
    options: CopyOnWrite<TransportOptions>
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    sharedOptions = options
  }
}

/// One exchange under way.
///
/// First `next()` until it gives the head, then the body. Dropping both ends the exchange.
public struct Exchange: Sendable {
  /// What comes before the body.
  public enum Interim: Sendable {
    /// A 1xx response.
    indirect case informational(ResponseHead)
    /// Body bytes sent so far; the latest value, when it was asked for.
    case uploaded(Int64)
    /// The final head.
    indirect case head(ResponseHead, ExchangeFacts)
  }

  private let storage: ResponseBodyStorage
  private let lease: ExchangeLease
  private let watermark: Watermark
  /// The URL that was sent, normalised.
  public let url: String
  /// Body bytes to send, nil when unknown.
  public let uploadLength: Int64?

  package init(
    _ storage: ResponseBodyStorage, watermark: Watermark, url: String, uploadLength: Int64? = 0
  ) {
    self.uploadLength = uploadLength
    self.storage = storage
    self.lease = ExchangeLease(storage)
    self.watermark = watermark
    self.url = url
  }

  /// The next thing before the body; the head is the last one.
  public func next(uploadSeen: Int64 = .max) async throws(HTTPError) -> Interim {
    while true {
      switch storage.takeOne(uploadSeen: uploadSeen) {
      case .item(.informational(let head)): return .informational(head)
      case .item(.head(let head, let facts)): return .head(head, facts)
      case .item(.failure(let error)): throw error
      case .uploaded(let count): return .uploaded(count)
      case .wait: await storage.waitForNews()
      case .cancelled: throw HTTPError.cancelled(phase: .head, url: url)
      case .item(.chunk), .item(.trailers), .item(.end), .finished:
        throw HTTPError(
          .malformedResponse, phase: .head, message: "the exchange ended without a head", url: url)
      }
    }
  }

  /// The source of the wire body, after the head.
  package func bodySource() -> any BodySource {
    lease.handOver()
    return ResponseBodyReader(storage, watermark: watermark)
  }

  /// The trailers, once the body has ended.
  public var trailers: HTTPFields? { storage.trailers }
  /// What is known after the end of the body.
  public var finalFacts: ExchangeFacts? { storage.facts }

  /// Nobody reads the body. One that is here whole leaves its connection usable; any other ends the exchange,
  /// as draining may never end.
  package func finishUnread() {
    if case .items(let items) = storage.takeAll(), case .end? = items.last { return }
    storage.abandon()
  }

  /// Ends the exchange.
  public func cancel() { storage.abandon() }
}

/// Ends an exchange whose head nobody waits for any more.
private final class ExchangeLease: Sendable {
  private let storage: Mutex<ResponseBodyStorage?>
  init(_ storage: ResponseBodyStorage) { self.storage = Mutex(storage) }
  deinit { storage.withLock { $0.take() }?.abandon() }
  /// From now on the body's reader is responsible.
  func handOver() { storage.withLock { $0 = nil } }
}
