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
  /// All of it in one place, so that a copy is one reference.
  @usableFromInline
  struct Parts: Sendable {
    @usableFromInline var method: HTTPMethod
    @usableFromInline var url: String
    @usableFromInline var headers: HTTPFields
    @usableFromInline var body: RequestBody
    @usableFromInline var options: CopyOnWrite<TransportOptions>
    @usableFromInline var isApproved = false
  }

  @usableFromInline var parts: CopyOnWrite<Parts>

  /// The method.
  @inlinable
  public var method: HTTPMethod {
    get { parts.value.method }
    set { parts.value.method = newValue }
  }
  /// The absolute URL.
  @inlinable
  public var url: String {
    get { parts.value.url }
    set { parts.value.url = newValue }
  }
  /// All header fields, but for those that the transport makes (Host, Content-Length, Transfer-Encoding).
  public var headers: HTTPFields {
    get { parts.value.headers }
    set {
      parts.value.headers = newValue
      parts.value.isApproved = false
    }
  }
  /// The content.
  @inlinable
  public var body: RequestBody {
    get { parts.value.body }
    set { parts.value.body = newValue }
  }
  /// How to carry it.
  public var options: TransportOptions {
    get { parts.value.options.value }
    set {
      parts.value.options.value = newValue
      parts.value.isApproved = false
    }
  }
  /// The same, for whoever carries it on or reads one of them, without a copy.
  @inlinable
  package var sharedOptions: CopyOnWrite<TransportOptions> { parts.value.options }
  /// Whether headers and options are known to be good: they stem from the client's settings alone, and those
  /// were checked once.
  package var isApproved: Bool { parts.value.isApproved }

  /// A request from its parts.
  public init(
    method: HTTPMethod, url: String, headers: HTTPFields = [:], body: RequestBody = .empty,
    options: TransportOptions = .init()
  ) {
    parts = CopyOnWrite(
      Parts(method: method, url: url, headers: headers, body: body, options: CopyOnWrite(options)))
  }

  package init(
    method: HTTPMethod, url: String, headers: HTTPFields, body: RequestBody,
    options: CopyOnWrite<TransportOptions>, isApproved: Bool
  ) {
    parts = CopyOnWrite(
      Parts(
        method: method, url: url, headers: headers, body: body, options: options, isApproved: isApproved))
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

  /// Ends the exchange when the last reference to it goes, here or in the body.
  private let reader: ResponseBodyReader
  private var storage: ResponseBodyStorage { reader.storage }
  /// The URL that was sent, normalised.
  public var url: String { reader.url }
  /// Body bytes to send, nil when unknown.
  public var uploadLength: Int64? { reader.uploadLength }

  package init(
    _ storage: ResponseBodyStorage, watermark: Watermark, url: String, uploadLength: Int64? = 0
  ) {
    reader = ResponseBodyReader(storage, watermark: watermark, url: url, uploadLength: uploadLength)
  }

  /// The next thing before the body; the head is the last one.
  public func next(uploadSeen: Int64 = .max) async throws(HTTPError) -> Interim {
    switch try await nextAhead(uploadSeen: uploadSeen) {
    case .early(.informational(let head)): return .informational(head)
    case .early(.uploaded(let count)): return .uploaded(count)
    case .head(let delivered): return .head(delivered.head, delivered.facts)
    }
  }

  /// The same as it was delivered, without a copy.
  package enum Ahead: Sendable {
    case early(Early)
    case head(DeliveredHead)
  }

  /// What comes before the head.
  package enum Early: Sendable {
    case informational(ResponseHead)
    case uploaded(Int64)
  }

  package func nextAhead(uploadSeen: Int64) async throws(HTTPError) -> Ahead {
    while true {
      switch storage.takeOne(uploadSeen: uploadSeen) {
      case .item(.informational(let head)): return .early(.informational(head))
      case .item(.head(let delivered)): return .head(delivered)
      case .item(.failure(let error)): throw error
      case .uploaded(let count): return .early(.uploaded(count))
      case .wait: await storage.waitForNews()
      case .cancelled: throw storage.cancelled(url: url)
      case .item(.chunk), .item(.trailers), .item(.end), .finished:
        throw HTTPError(
          .malformedResponse, phase: .head, message: "the exchange ended without a head", url: url)
      }
    }
  }

  /// The source of the wire body, after the head.
  package func bodySource() -> any BodySource { reader }

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
