import CurlTransport

/// The whole path of a request in one function, driven by whoever wants the next thing before the body:
/// encode → transport → interim heads and upload progress → final head → redirect, or the body with its
/// codings taken off.
///
/// A class, and its steps plain functions, so that a task that waits keeps little of it on its stack.
final class PipelineRun: @unchecked Sendable {
  // Sendable: one task at a time drives it.
  enum Step: Sendable {
    case event(TransferEvent)
    case response(Response)
  }

  /// The request of the current hop.
  private var request: Request
  private let client: Client
  private let reportsUpload: Bool
  private let begin = ContinuousClock.now
  private let timeouts: TimeLimits
  private let redirects: RedirectPolicy
  private var exchange: Exchange?
  private var uploadSeen: Int64 = 0
  private var hops: [RedirectHop] = []
  private var fragment: String?

  init(_ request: Request, client: Client, reportsUpload: Bool) {
    self.request = request
    self.client = client
    self.reportsUpload = reportsUpload
    timeouts = request.timeouts ?? client.configuration.timeouts
    redirects = request.redirects ?? client.configuration.redirects
  }

  func next() async throws(HTTPError) -> Step {
    let exchange = try opened()
    return try step(exchange, try await exchange.next(uploadSeen: reportsUpload ? uploadSeen : .max))
  }

  @inline(never)
  private func step(_ exchange: Exchange, _ interim: Exchange.Interim) throws(HTTPError) -> Step {
    switch interim {
    case .informational(let head):
      return .event(.informational(head))
    case .uploaded(let sent):
      uploadSeen = sent
      return .event(.uploadProgress(UploadProgress(sent: sent, total: exchange.uploadLength)))
    case .head(let head, let facts):
      let hsts = client.configuration.hsts
      hsts?.learn(head, from: exchange.url, tls: request.tls ?? client.configuration.tls)
      let decision = RedirectDecision.decide(
        request, url: exchange.url, fragment: fragment, head: head, hops: hops, policy: redirects, hsts: hsts)
      switch decision {
      case .deliver: return .response(try response(exchange, head, facts))
      case .fail(let error):
        exchange.finishUnread()
        throw error
      case .follow(let next, let hop, let fragment):
        exchange.finishUnread()
        request = next
        hops.append(hop)
        self.fragment = fragment
        self.exchange = nil
        uploadSeen = 0
        return .event(.redirect(hop))
      }
    }
  }

  @inline(never)
  private func opened() throws(HTTPError) -> Exchange {
    if let exchange { return exchange }
    if Task.isCancelled { throw HTTPError.cancelled.naming(method: request.method, url: request.url) }
    if hops.isEmpty {
      fragment = request.url.utf8.firstIndex(of: UInt8(ascii: "#")).map {
        String(request.url[$0...].dropFirst())
      }
      // Nearly no URL has credentials: look before copying.
      if request.url.utf8.contains(UInt8(ascii: "@")) { request = try URLCredentials.applied(to: request) }
    } else if let total = timeouts.total {
      // One total limit over all hops.
      var left = timeouts
      left.total = max(.zero, total - (ContinuousClock.now - begin))
      request.timeouts = left
    }
    if let hsts = client.configuration.hsts { request.url = hsts.upgraded(request.url) }
    let encoded = try client.encoder.encode(request, reportsUpload: reportsUpload)
    let opened = try client.transport.open(encoded)
    exchange = opened
    return opened
  }

  private func response(
    _ exchange: Exchange, _ head: ResponseHead, _ facts: ExchangeFacts
  ) throws(HTTPError) -> Response {
    let source = exchange.bodySource()
    let framing = ResponseFraming(head, method: request.method)
    var length: Int64?
    if case .length(let announced) = framing { length = announced }
    if framing == .none { length = 0 }
    let body: ResponseBody
    var counter: (any WireCounting)?
    if let decoder = try decoder(for: head, abandoning: source) {
      let decoded = DecodedBodySource(
        source, decoder: decoder, status: head.status, method: request.method, url: exchange.url)
      counter = decoded
      body = ResponseBody(source: decoded, isEndVerifiable: framing != .untilClose)
    } else {
      body = ResponseBody(source: source, contentLength: length, isEndVerifiable: framing != .untilClose)
    }
    return Response(
      head: head, url: exchange.url + (fragment.map { "#" + $0 } ?? ""), history: hops, facts: facts,
      body: body, exchange: exchange, announcedLength: length, wireCounter: counter)
  }

  private func decoder(
    for head: ResponseHead, abandoning source: any BodySource
  ) throws(HTTPError) -> ContentDecoder? {
    guard request.decodesContent ?? client.configuration.decodesContent,
      ContentDecoder.applies(method: request.method, status: head.status),
      head.headers.contains("Content-Encoding")
    else { return nil }
    do throws(HTTPError) {
      return try ContentDecoder(headers: head.headers, limits: client.configuration.decoding)
    } catch {
      source.abandon()
      throw error.naming(method: request.method, url: request.url).at(status: head.status, received: 0)
    }
  }
}
