package import StreamCore

/// What makes a request unfit to be sent, found before any byte is.
package enum RequestCheck {
  private static let largestHead = 1_000_000

  package static func check(_ request: TransportRequest) throws(HTTPError) {
    func refuse(_ kind: HTTPError.Kind, _ message: String, _ advice: String? = nil) -> HTTPError {
      HTTPError(
        kind, phase: .queue, message: message, advice: advice, method: request.method, url: request.url)
    }
    guard request.method.isValid else {
      throw HTTPError(
        .invalidMethod, phase: .queue, message: "the method isn't a token (RFC 9110 §9.1)",
        advice: "Use letters without spaces or line ends", url: request.url)
    }
    if request.method.rawValue == "CONNECT" {
      throw refuse(.invalidMethod, "CONNECT can't be sent as a request", "Set a proxy instead")
    }
    if !request.body.isEmpty, request.method == .trace || request.method == .head {
      throw refuse(.invalidBody, "a \(request.method) request can't have a body (RFC 9110 §9.3)")
    }
    if let length = request.body.length, length < 0 {
      throw refuse(.invalidBody, "the length of the body is negative: \(length)", "Use nil if it isn't known")
    }
    if request.isApproved { return }
    if let field = request.headers.firstInvalidField {
      throw refuse(
        .invalidHeader, "the header field \"\(field.name)\" \(field.why)",
        "Names are tokens; values hold no CR, LF or NUL (RFC 9110 §5)")
    }
    // libcurl has only "Out of memory" for more than 1 MiB.
    if request.url.utf8.count + request.headers.byteCount > Self.largestHead {
      throw refuse(
        .invalidHeader, "the head of the request is larger than 1 MB", "Send large values in the body")
    }
    if request.headers.rawValues("Host").count > 1 {
      throw refuse(.invalidHeader, "there is more than one Host field (RFC 9112 §3.2)")
    }
    try check(request.sharedOptions.value, refuse)
    try checkPace(request, refuse)
  }

  private static func checkPace(
    _ request: TransportRequest, _ refuse: (HTTPError.Kind, String, String?) -> HTTPError
  ) throws(HTTPError) {
    if let rate = request.sharedOptions.value.bytesPerSecond, rate <= 0 {
      throw refuse(.invalidConfiguration, "the rate limit isn't positive", "Use nil for no limit")
    }
    if request.sharedOptions.value.expectLimit < .zero {
      throw refuse(.invalidConfiguration, "the limit of Expect is negative", nil)
    }
    guard let trailers = request.body.trailers else { return }
    if let name = trailers.firstUnusableName {
      throw refuse(
        .invalidHeader, "\"\(name)\" can't be a trailer (RFC 9110 §6.5.1)", "Send it as a header field")
    }
    if request.sharedOptions.value.version == .http2 {
      throw refuse(
        .invalidConfiguration, "a body with trailers can't be sent over HTTP/2", "Allow HTTP/1.1 for it")
    }
  }

  /// Whether such a request can be sent.
  package static func isGood(_ request: TransportRequest) -> Bool {
    do throws(HTTPError) {
      try check(request)
      return true
    } catch {
      return false
    }
  }

  private static func check(
    _ options: TransportOptions, _ refuse: (HTTPError.Kind, String, String?) -> HTTPError
  ) throws(HTTPError) {
    let limits = options.timeouts
    if let name = limits.negative {
      throw refuse(.invalidConfiguration, "the \(name) limit is negative", "Use nil for no limit")
    }
    let head = options.headLimit
    if head.bytes <= 0 || head.lines <= 0 || head.lineBytes <= 0 {
      throw refuse(.invalidConfiguration, "the limit of the head isn't positive", nil)
    }
    try ConnectionCheck.check(options, refuse)
  }
}

extension TimeLimits {
  /// The first limit below zero.
  fileprivate var negative: String? {
    func isNegative(_ limit: Duration?) -> Bool { limit.map { $0 < .zero } ?? false }
    if isNegative(admission) { return "admission" }
    if isNegative(connect) { return "connect" }
    if isNegative(firstByte) { return "firstByte" }
    if isNegative(idle) { return "idle" }
    return isNegative(total) ? "total" : nil
  }
}
