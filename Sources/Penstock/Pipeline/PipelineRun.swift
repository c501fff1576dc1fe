import CurlTransport

/// The whole path of a request, driven by whoever wants the next thing before the body. The stages, outside in:
/// call middlewares → redirects → retry → auth → attempt middlewares → encode → transport; then back: interim
/// heads and upload progress → final head → judged by auth, retry and redirects → the body with its codings taken
/// off.
///
/// A class, and its steps plain functions, so that a task that waits keeps little of it on its stack. A call that
/// has nothing but redirects on its way has no `managed`, and pays one comparison for it.
final class PipelineRun: @unchecked Sendable {
  // Sendable: one task at a time drives it.
  enum Step: Sendable {
    case event(TransferEvent)
    case response(Response)
  }

  // One task at a time: checking each access at run time finds nothing and costs much.
  /// The request of the current hop.
  @exclusivity(unchecked) var request: Request
  let client: Client
  let reportsUpload: Bool
  private let begin = MonotonicInstant.now
  private let timeouts: TimeLimits
  private let redirects: RedirectPolicy
  let managed: ManagedCall?
  /// Whether a content coding that can't be undone fails the body and not the call: who reads events gets the head
  /// that was there first.
  @exclusivity(unchecked) var failsLate = false
  @exclusivity(unchecked) var exchange: Exchange?
  @exclusivity(unchecked) var uploadSeen: Int64 = 0
  @exclusivity(unchecked) private(set) var hops: [RedirectHop] = []
  @exclusivity(unchecked) private var fragment: String?

  convenience init(_ request: Request, client: Client, reportsUpload: Bool) {
    self.init(
      request, client: client, reportsUpload: reportsUpload,
      managed: ManagedCall.make(request, client: client))
  }

  init(_ request: Request, client: Client, reportsUpload: Bool, managed: ManagedCall?) {
    self.request = request.preparedForResumption
    self.client = client
    self.reportsUpload = reportsUpload
    self.managed = managed
    timeouts = request.timeouts ?? client.timeouts
    redirects = request.redirects ?? client.redirects
  }

  func next() async throws(HTTPError) -> Step {
    if let managed {
      do throws(HTTPError) {
        if let exchange = try startedAtOnce(managed) {
          let ahead = try await exchange.nextAhead(uploadSeen: reportsUpload ? uploadSeen : .max)
          if let step = try settledAtOnce(ahead, exchange, managed) { return step }
        }
      } catch {
        return try failed(error, managed)
      }
      return try await next(managed)
    }
    let exchange = try opened()
    return try step(exchange, try await exchange.nextAhead(uploadSeen: reportsUpload ? uploadSeen : .max))
  }

  @inline(never)
  private func step(_ exchange: Exchange, _ ahead: Exchange.Ahead) throws(HTTPError) -> Step {
    switch ahead {
    case .early(let early): return .event(event(early, exchange, &uploadSeen))
    case .head(let delivered):
      if let hop = try redirect(
        delivered.status, delivered.head, url: exchange.url, discard: exchange.finishUnread)
      {
        return .event(.redirect(hop))
      }
      return .response(try response(to: request, exchange, delivered))
    }
  }

  /// The event that something before the head is; `seen` is what is known of the upload.
  func event(_ early: Exchange.Early, _ exchange: Exchange, _ seen: inout Int64) -> TransferEvent {
    switch early {
    case .informational(let head): return .informational(head)
    case .uploaded(let sent):
      seen = sent
      return .uploadProgress(UploadProgress(sent: sent, total: exchange.uploadLength))
    }
  }

  /// The hop that a head leads to; nil when it is to be delivered.
  func redirect(
    _ status: HTTPStatus, _ head: @autoclosure () -> ResponseHead, url: @autoclosure () -> String,
    discard: () -> Void
  ) throws(HTTPError) -> RedirectHop? {
    let hsts = client.hsts
    // Most heads are copied for neither.
    guard hsts != nil || status.isRedirection else { return nil }
    let (head, url) = (head(), url())
    hsts?.learn(head, from: url, tls: request.tls ?? client.configuration.tls)
    guard status.isRedirection else { return nil }
    let decision = RedirectDecision.decide(
      request, url: url, fragment: fragment, head: head, hops: hops, policy: redirects, hsts: hsts)
    switch decision {
    case .deliver: return nil
    case .fail(let error):
      discard()
      throw error
    case .follow(let next, let hop, let fragment):
      discard()
      request = next
      hops.append(hop)
      self.fragment = fragment
      exchange = nil
      uploadSeen = 0
      return hop
    }
  }

  @inline(never)
  private func opened() throws(HTTPError) -> Exchange {
    if let exchange { return exchange }
    try prepare()
    if !hops.isEmpty, let total = timeouts.total {
      // One total limit over all hops.
      var left = timeouts
      left.total = max(.zero, total - (MonotonicInstant.now - begin))
      request.timeouts = left
    }
    let opened = try open(request)
    exchange = opened
    return opened
  }

  /// What is to be done before the request of a hop is sent.
  func prepare() throws(HTTPError) {
    if Task.isCancelled { throw HTTPError.cancelled.naming(method: request.method, url: request.url) }
    if let hsts = client.hsts { request.url = hsts.upgraded(request.url) }
    // Nearly no URL has a fragment or credentials: one look for both.
    guard hops.isEmpty, fragment == nil, ByteScan.holds(UInt8(ascii: "#"), or: UInt8(ascii: "@"), request.url)
    else { return }
    fragment = request.url.utf8.firstIndex(of: UInt8(ascii: "#")).map {
      String(request.url[$0...].dropFirst())
    }
    if request.url.utf8.contains(UInt8(ascii: "@")) { request = try URLCredentials.applied(to: request) }
  }

  func open(_ request: Request) throws(HTTPError) -> Exchange {
    try client.open(client.encoder.encode(request, reportsUpload: reportsUpload))
  }

  func response(
    to request: Request, _ exchange: Exchange, _ delivered: DeliveredHead, _ passes: GuardPasses? = nil
  ) throws(HTTPError) -> Response {
    let framing = delivered.framing(request.method)
    let isEndVerifiable = framing.tellsCut(streams: delivered.tellsCutStreams)
    var source = exchange.bodySource()
    if !request.hasNoChoices {
      source = ResumingBodySource.wrap(
        ThrottledBodySource.wrap(source, rate: request.rateLimit), request: request, head: delivered.head,
        framing: framing, isEndVerifiable: isEndVerifiable, client: client)
    }
    let length: Int64? =
      switch framing {
      case .length(let announced): announced
      case .none: 0
      default: nil
      }
    let origin = BodyOrigin(method: request.method, url: exchange.url, status: delivered.status)
    let body: ResponseBody
    var counter = source as? ResumingBodySource as (any WireCounting)?
    let decoder: ContentDecoder?
    do throws(HTTPError) {
      decoder = try self.decoder(for: delivered, abandoning: source)
    } catch {
      guard failsLate else { throw error }
      source = FailedSource(source, error)
      decoder = nil
    }
    if let decoder {
      let decoded = DecodedBodySource(
        source, decoder: decoder, status: delivered.status, method: request.method, url: exchange.url)
      counter = decoded
      body = ResponseBody(
        source: GuardedBodySource.wrap(decoded, passes), isEndVerifiable: isEndVerifiable, origin: origin)
    } else {
      body = ResponseBody(
        source: GuardedBodySource.wrap(source, passes), contentLength: length,
        isEndVerifiable: isEndVerifiable, origin: origin)
    }
    return Response(
      delivered, url: shownURL(exchange), history: hops, body: body, exchange: exchange,
      announcedLength: length, wireCounter: counter,
      attempts: managed?.failedAttempts ?? [])
  }

  /// The URL that answered as the caller and the redirects made it: a key that the auth stage has put into the query
  /// isn't shown.
  func shownURL(_ exchange: Exchange) -> String {
    guard let fragment else { return shownTarget(exchange) }
    return shownTarget(exchange) + "#" + fragment
  }

  private func shownTarget(_ exchange: Exchange) -> String {
    guard let sent = managed?.sent?.request.url, sent != request.url else { return exchange.url }
    do throws(HTTPError) {
      return try CurlURL(request.url).text
    } catch {
      return exchange.url
    }
  }

  private func decoder(
    for delivered: DeliveredHead, abandoning source: any BodySource
  ) throws(HTTPError) -> ContentDecoder? {
    guard delivered.isContentCoded, request.decodesContent ?? client.decodesContent,
      ContentDecoder.applies(method: request.method, status: delivered.status)
    else { return nil }
    do throws(HTTPError) {
      return try ContentDecoder(headers: delivered.head.headers, limits: client.configuration.decoding)
    } catch {
      source.abandon()
      throw error.naming(method: request.method, url: request.url).at(status: delivered.status, received: 0)
    }
  }
}
