import Penstock

/// Turns settings into the library's values.
enum RequestBuilder {
  /// The client for a run.
  static func client(_ settings: Settings, netrc: NetrcFile? = nil) -> Client {
    var configuration = ClientConfiguration()
    configuration.timeouts.connect = limit(settings.connectTimeout, configuration.timeouts.connect)
    configuration.timeouts.firstByte = limit(settings.firstByteTimeout, configuration.timeouts.firstByte)
    configuration.timeouts.idle = limit(settings.idleTimeout, configuration.timeouts.idle)
    configuration.timeouts.total = limit(settings.maximumTime, nil)
    configuration.decodesContent = settings.decodesContent
    if let redirects = settings.maximumRedirects { configuration.redirects.limit = redirects }
    switch settings.httpVersion {
    case .http1: configuration.version = .http1_1
    // As in curl: where the server offers it.
    case .http2: configuration.version = .automatic
    case nil: break
    }
    if settings.isInsecure {
      configuration.tls.verifiesTrust = false
      configuration.tls.verifiesName = false
    }
    configuration.tls.caFile = settings.authorityFile
    switch settings.ipVersion {
    case .v4: configuration.addressing.family = .v4
    case .v6: configuration.addressing.family = .v6
    case nil: break
    }
    configuration.addressing.interface = settings.networkInterface
    configuration.addressing.unixSocket = settings.unixSocket
    configuration.addressing.overrides = settings.resolutions.map { "\($0.host):\($0.port):\($0.address)" }
    NetworkBuilder.apply(settings, to: &configuration)
    settings.applyHTTP(to: &configuration)
    // Files and batches retry in their own way.
    if settings.verb != .download, settings.verb != .batch { configuration.retry = settings.retryPolicy }
    // A run does what it was told, however often that is.
    configuration.retryBudget = nil
    CommandCredentials.add(to: &configuration, settings, netrc: netrc)
    if settings.verb == .batch { BatchVerb.prepare(&configuration, settings) }
    return Client(configuration: configuration)
  }

  private static func limit(_ setting: Settings.TimeLimit?, _ standard: Duration?) -> Duration? {
    switch setting {
    case nil: standard
    case .unlimited: nil
    case .after(let duration): duration
    }
  }

  /// The request for one URL; `data` is what `-d` and its kin add up to. Without a credential that depends on the
  /// URL when it is only what the requests of a batch have in common.
  static func request(
    _ settings: Settings, url: String, data: [UInt8], isTemplate: Bool = false
  ) -> Request {
    var request = Request(
      HTTPMethod(settings.effectiveMethod), settings.requestURL(url, data: data),
      body: body(settings, data: data))
    // A download has a limit of its own, for all its segments.
    if settings.verb != .download { request.rateLimit = settings.http.rateLimit.map { .bytesPerSecond($0) } }
    for operation in settings.fieldOperations {
      switch operation {
      case .add(let name, let value):
        request.headers.append(name, value)
        request.keepAtHome(name)
      case .empty(let name): request.headers.append(name, "")
      case .remove(let name): request.withoutDefaults.insert(name)
      }
    }
    return isTemplate ? request : CommandCredentials.apply(to: request, settings)
  }

  private static func body(_ settings: Settings, data: [UInt8]) -> RequestBody {
    switch settings.upload {
    case .file(let path):
      return InputFile.isRegular(path) ? .file(path) : .stream(InputSequence(.file(path)))
    case .standardInput: return .stream(InputSequence(.standardInput))
    case nil where !settings.http.form.isEmpty: return .multipart(settings.multipartForm)
    case nil:
      if let path = settings.streamedDataFile { return .file(path) }
      return settings.data.isEmpty || settings.dataInQuery ? .empty : .bytes(data)
    }
  }
}

extension Request {
  /// Takes method and URL of the request that a redirect made.
  mutating func follow(_ hop: RedirectHop) {
    method = hop.method
    url = hop.to
  }

  /// A field that carries a secret by its name (X-Api-Key and its like) doesn't follow to other origins either.
  mutating func keepAtHome(_ name: String) {
    if Redaction.isSecretField(name) { secretHeaders.append(name) }
  }
}
