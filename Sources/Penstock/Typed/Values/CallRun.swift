/// The way of one call from its plan to a whole answer: build, send, judge the status, collect, validate. Decoding
/// comes behind it, so that a failed status is never told as a decoding error.
struct CallRun {
  private let call: Call
  private let api: CopyOnWrite<APIDefaults>
  private let validation: Validation

  init(_ call: Call) {
    self.call = call
    api = call.client.api
    validation = api.value.validation.and(call.plan.validation)
  }

  var decoder: any BodyDecoder { call.plan.decoder ?? api.value.decoder }

  /// What a body gives; what it throws is shown to those who want to see the call's failures, and may be another error
  /// then.
  func told<Value>(_ body: () async throws(HTTPError) -> Value) async throws(HTTPError) -> Value {
    do throws(HTTPError) {
      return try await body()
    } catch {
      var error = error
      for handler in call.plan.failureHandlers { error = handler(error) }
      if let handler = api.value.onFailure { error = handler(error) }
      throw error
    }
  }

  /// The open answer, of whatever status.
  func open(decodes: Bool) async throws(HTTPError) -> (Response, HTTPMethod) {
    var request = try call.request()
    if decodes { setAccept(&request) }
    return (try await call.client.send(request), request.method)
  }

  private func setAccept(_ request: inout Request) {
    let client = call.client
    if call.plan.decoder == nil, request.headers.isEmpty {
      if let fields = client.encoder.valueHeaders { request.headers = fields }
    } else if !client.defaultHeaders.contains("Accept"), let accept = decoder.accept {
      request.headers.setDefault("Accept", accept)
    }
  }

  /// The open answer, of an accepted status.
  func accepted() async throws(HTTPError) -> Response {
    let (response, method) = try await open(decodes: false)
    guard validation.accepts(response.status) else { throw await failure(response, method) }
    if let why = validation.refusal(of: response.headers), response.body.contentLength != 0 {
      throw HTTPError(
        .validationFailed, phase: .head, message: why,
        advice: "Accepted: " + (validation.contentTypes ?? []).joined(separator: ", "), method: method,
        url: response.url, status: response.status, mayHaveBeenProcessed: true)
    }
    return response
  }

  /// The whole answer, of whatever status, unvalidated.
  func whole() async throws(HTTPError) -> RawResponse {
    let (response, method) = try await open(decodes: false)
    return try await collect(response, method)
  }

  /// The whole answer, validated; nil for a status that `isNothing` picks.
  func validated(
    decodes: Bool, isNothing: (HTTPStatus) -> Bool = { _ in false }
  ) async throws(HTTPError) -> RawResponse? {
    let (response, method) = try await open(decodes: decodes)
    if isNothing(response.status) { return nil }
    guard validation.accepts(response.status) else { throw await failure(response, method) }
    let raw = try await collect(response, method)
    try validation.check(raw)
    return raw
  }

  private func collect(_ response: Response, _ method: HTTPMethod) async throws(HTTPError) -> RawResponse {
    do throws(HTTPError) {
      let bytes = try await response.body.collect(upTo: call.plan.bodyLimit ?? api.value.bodyLimit)
      return RawResponse(
        head: response.head, bytes: bytes, url: response.url, history: response.history,
        facts: response.finalFacts ?? response.facts, method: method)
    } catch {
      throw error.naming(method: method, url: response.url)
    }
  }

  /// What a status that isn't accepted means: the error with the begin of the body and what the server said in it.
  func failure(_ response: Response, _ method: HTTPMethod) async -> HTTPError {
    var bytes: [UInt8] = []
    var isCut = false
    let limit = Int(clamping: max(0, api.value.errorBodyLimit.bytes))
    var iterator = response.body.makeAsyncIterator()
    do throws(HTTPError) {
      while let chunk = try await iterator.next() {
        let room = limit - bytes.count
        if chunk.count > room {
          bytes += Array(chunk).prefix(room)
          isCut = true
          break
        }
        chunk.append(to: &bytes)
      }
    } catch {
      if error == .cancelled { return error.naming(method: method, url: response.url) }
      isCut = true
    }
    let raw = RawResponse(
      head: response.head, bytes: bytes, url: response.url, history: response.history,
      facts: response.finalFacts ?? response.facts, method: method)
    return failure(raw, isCut: isCut)
  }

  func failure(_ raw: RawResponse, isCut: Bool) -> HTTPError {
    let decoding = call.plan.errorDecoding ?? api.value.errorDecoding
    let said = decoding?.decode(raw, decoder) ?? ErrorDecoding.problemDetails.decode(raw, decoder)
    var message = "the server answered \(raw.status)"
    if !raw.head.reason.isEmpty { message += " \(raw.head.reason.prefix(80))" }
    if let problem = said as? ProblemDetails, let text = problem.detail ?? problem.title {
      message += ": \(text.prefix(200))"
    }
    return HTTPError(
      .httpStatus, phase: .head, message: message, method: raw.method, url: raw.url, status: raw.status,
      received: Int64(raw.bytes.count), mayHaveBeenProcessed: true
    ).adding {
      $0.response = ErrorResponse(status: raw.status, headers: raw.headers, body: raw.bytes, isCut: isCut)
      $0.apiError = said
    }
  }
}
