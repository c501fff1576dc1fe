import CurlTransport
import Synchronization

/// Turns a `Request` and its client's settings into what a transport carries: nothing is left to default.
final class RequestEncoder: Sendable {
  private let configuration: ClientConfiguration
  private let invalidSetting: String?
  /// What a request gets that says nothing for itself.
  private let plainOptions: CopyOnWrite<TransportOptions>
  private let plainOptionsWithUpload: CopyOnWrite<TransportOptions>
  private let plainHeaders: HTTPFields
  /// What a call for a value sets for itself where nothing else is set: the type that the client decodes. Nil where
  /// there is none, or the client's own fields have it.
  let valueHeaders: HTTPFields?
  /// What that becomes.
  private let sentValueHeaders: HTTPFields
  private let proxies: ProxySelection
  /// Whether both are good, so that they needn't be looked at for each request.
  private let isPlainApproved: Bool
  /// Whether a bare request needs nothing but these.
  private let isBareReady: Bool
  /// The same for one with `valueHeaders`.
  private let isValueReady: Bool
  /// What the last request with fields of its own got, and nothing else of its own: a credential puts the same field
  /// on all of them.
  private let last = Mutex<(own: HTTPFields, whole: HTTPFields)?>(nil)

  init(_ configuration: ClientConfiguration) {
    self.configuration = configuration
    invalidSetting = configuration.invalidSetting
    var options = TransportOptions()
    options.timeouts = configuration.timeouts
    options.watermark = configuration.watermark
    options.version = configuration.version
    options.tls = configuration.tls
    options.addressing = configuration.addressing
    options.headLimit = configuration.headLimit
    options.cookies = CookieUse.ofClient.link(configuration)
    plainOptions = CopyOnWrite(options)
    options.reportsUpload = true
    plainOptionsWithUpload = CopyOnWrite(options)
    plainHeaders = Self.headers(Request(.get, ""), configuration)
    proxies = ProxySelection(configuration.proxy)
    let plain = TransportRequest(method: .get, url: "", headers: plainHeaders, options: plainOptions.value)
    isPlainApproved = RequestCheck.isGood(plain) && !plainHeaders.contains("Proxy-Authorization")
    isBareReady = isPlainApproved && proxies.isDirect
    if let accept = configuration.api.decoder.accept, !configuration.headers.contains("Accept") {
      let own: HTTPFields = ["Accept": accept]
      valueHeaders = own
      sentValueHeaders = Self.headers(Request(.get, "", headers: own), configuration)
      isValueReady = isBareReady && sentValueHeaders.firstInvalidField == nil
    } else {
      valueHeaders = nil
      sentValueHeaders = plainHeaders
      isValueReady = false
    }
  }

  func encode(_ request: Request, reportsUpload: Bool) throws(HTTPError) -> TransportRequest {
    if let invalidSetting {
      throw HTTPError(
        .invalidConfiguration, phase: .queue,
        message: "the client's setting \"\(invalidSetting)\" is out of range",
        advice: "It must be positive", method: request.method, url: request.url)
    }
    if request.hasOnlyHeaders, let headers = readyHeaders(request.headers) {
      return TransportRequest(
        method: request.method, url: request.url, headers: headers, body: .empty,
        options: reportsUpload ? plainOptionsWithUpload : plainOptions, isApproved: true)
    }
    let body = try EncodedBody(request)
    let hasPlainHeaders =
      request.headers.isEmpty && body.fields.isEmpty
      && (request.hasNoChoices || (request.withoutDefaults.isEmpty && request.decodesContent == nil))
    var encoded = TransportRequest(
      method: request.method, url: request.url,
      headers: hasPlainHeaders ? plainHeaders : Self.headers(request, configuration, body.fields),
      body: body.body, options: body.apply(to: options(request, reportsUpload: reportsUpload)),
      isApproved: isPlainApproved && hasPlainHeaders && request.hasNoChoices)
    try encoded.chooseProxy(request, default: proxies)
    return encoded
  }

  /// The whole fields of a request that has these and nothing else of its own, approved; nil when the request must be
  /// looked at closer.
  private func readyHeaders(_ own: HTTPFields) -> HTTPFields? {
    guard isBareReady else { return nil }
    if own.isEmpty { return plainHeaders }
    if isValueReady, let valueHeaders, own.isIdentical(to: valueHeaders) { return sentValueHeaders }
    return approvedHeaders(own)
  }

  /// The same for fields that aren't known beforehand.
  private func approvedHeaders(_ own: HTTPFields) -> HTTPFields? {
    let known = last.withLock { $0 }
    if let known, known.own.isIdentical(to: own) { return known.whole }
    if own.contains("Proxy-Authorization") { return nil }
    let whole = Self.headers(Request(.get, "", headers: own), configuration)
    let probe = TransportRequest(
      method: .get, url: "", headers: whole, body: .empty, options: plainOptions, isApproved: false)
    guard RequestCheck.isGood(probe) else { return nil }
    last.withLock { $0 = (own, whole) }
    return whole
  }

  private func options(_ request: Request, reportsUpload: Bool) -> CopyOnWrite<TransportOptions> {
    let plain = reportsUpload ? plainOptionsWithUpload : plainOptions
    if request.hasNoChoices { return plain }
    let choices = request.choices.value
    var options = plain.value
    if let timeouts = choices.timeouts { options.timeouts = timeouts }
    if let watermark = choices.watermark { options.watermark = watermark }
    if let version = choices.version { options.version = version }
    if let tls = choices.tls { options.tls = tls }
    if let addressing = choices.addressing { options.addressing = addressing }
    options.streamWeight = choices.streamWeight
    options.priority = choices.priority
    options.isLongLived = choices.isLongLived
    options.mayReplayUnsafe = choices.mayReplayUnsafe
    options.cookies = choices.cookies.link(configuration)
    options.bytesPerSecond = choices.rateLimit?.bytesPerSecond
    if let limit = choices.expectContinue { options.expectLimit = limit }
    return CopyOnWrite(options)
  }

  /// `bodyFields`: what the body says of itself, unless the request says it.
  static func headers(
    _ request: Request, _ configuration: ClientConfiguration, _ bodyFields: HTTPFields = [:]
  ) -> HTTPFields {
    var headers = request.headers
    if !bodyFields.isEmpty {
      var fields = bodyFields
      for name in request.withoutDefaults { fields.removeAll(name) }
      headers.appendMissing(from: fields)
    }
    var defaults = configuration.headers
    for name in request.withoutDefaults { defaults.removeAll(name) }
    headers.appendMissing(from: defaults)
    func setDefault(_ name: String, _ value: @autoclosure () -> String?) {
      guard !headers.contains(name) else { return }
      if !request.withoutDefaults.isEmpty,
        request.withoutDefaults.contains(where: { $0.lowercased() == name.lowercased() })
      {
        return
      }
      if let value = value() { headers.append(name, value) }
    }
    setDefault("User-Agent", configuration.userAgent)
    setDefault("Accept", "*/*")
    if request.decodesContent ?? configuration.decodesContent {
      setDefault("Accept-Encoding", AcceptEncoding.value)
    }
    return headers
  }
}
