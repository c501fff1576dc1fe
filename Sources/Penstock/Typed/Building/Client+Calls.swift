extension Client {
  /// A client for an API.
  ///
  /// - Parameters:
  ///   - baseURL: what relative paths are put behind, such as `https://api.host/v1`. One that can't be used fails each
  ///     call with `HTTPError.Kind.invalidURL`, naming it.
  ///   - configuration: all other settings.
  public init(baseURL: String, configuration: ClientConfiguration = ClientConfiguration()) {
    var configuration = configuration
    configuration.api.baseURL = baseURL
    self.init(configuration: configuration)
  }

  /// A client for an API over another transport, for tests.
  public init(
    baseURL: String, transport: any Transport, configuration: ClientConfiguration = ClientConfiguration()
  ) {
    var configuration = configuration
    configuration.api.baseURL = baseURL
    self.init(transport: transport, configuration: configuration)
  }

  /// A client for an API where it lives.
  public init(environment: Environment, configuration: ClientConfiguration = ClientConfiguration()) {
    self.init(baseURL: environment.baseURL, configuration: configuration)
  }

  /// A call to the base URL itself.
  public var call: Call { Call(self) }

  /// A call to a path: segments, percent-encoded. Slashes separate, unless they are kept.
  public func path(_ segments: any URLValue..., slashes: PathSlashes = .split) -> Call {
    call.with { plan in for segment in segments { plan.path.append(segment, slashes: slashes) } }
  }

  /// A call to the path of a template (RFC 6570, levels 1 to 3) with its values.
  public func path(_ template: String, _ values: [String: (any URLValue)?]) -> Call {
    call.path(template, values)
  }

  /// A call to a path with typed values in it.
  public func path(_ path: RequestPath) -> Call { call.path(path) }

  /// A call to path segments: `client("users", 42)`.
  public func callAsFunction(_ segments: any URLValue...) -> Call {
    call.with { plan in for segment in segments { plan.path.append(segment) } }
  }

  /// A call to a URL of its own.
  public func absolute(url: String) -> Call { call.absolute(url: url) }

  /// The same request with its URL put behind the base URL, where it is relative.
  func resolved(_ request: Request) throws(HTTPError) -> Request {
    guard let base, !BaseURL.isAbsolute(request.url) else { return request }
    var request = request
    request.url = BaseURL.join(try base.checked(), reference: request.url)
    return request
  }
}
