/// A request: method, URL, fields, content, and what it wants otherwise than its client.
public struct Request: Sendable {
  /// The method.
  public var method: HTTPMethod
  /// The absolute URL, http or https. It is checked when the request is sent.
  public var url: String
  /// Header fields, sent in this order. Host, Content-Length and Transfer-Encoding are made from URL and body.
  public var headers: HTTPFields
  /// The content.
  public var body: RequestBody

  /// Names of default fields that aren't sent ("User-Agent", "Accept", "Accept-Encoding", …).
  public var withoutDefaults: Set<String> = []
  /// Limits of time in place of the client's.
  public var timeouts: TimeLimits?
  /// How many bytes of the body may wait for the reader, in place of the client's.
  public var watermark: Watermark?
  /// Whether content codings are asked for and taken off, in place of the client's.
  public var decodesContent: Bool?
  /// Which protocol versions may be used, in place of the client's.
  public var version: VersionPolicy?
  /// How the server is verified, in place of the client's.
  public var tls: TLSOptions?
  /// How the host is found and reached, in place of the client's.
  public var addressing: Addressing?
  /// Which redirects are followed, in place of the client's.
  public var redirects: RedirectPolicy?
  /// Names of further fields that hold secrets: they don't follow a redirect to another origin.
  public var secretHeaders: [String] = []
  /// Marks an event stream or long poll: it counts against `Limits.longLived`, so that it can't starve calls.
  public var isLongLived = false
  /// Larger goes first among the waiting requests of a host.
  public var priority = 0
  /// Whether a request that isn't idempotent may be sent again on a connection that died unanswered. Only for
  /// servers that recognise repeats.
  public var mayReplayUnsafe = false

  /// A request from its parts.
  public init(
    _ method: HTTPMethod = .get, _ url: String, headers: HTTPFields = [:], body: RequestBody = .empty
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }

  /// GET.
  public static func get(_ url: String, headers: HTTPFields = [:]) -> Request {
    Request(.get, url, headers: headers)
  }

  /// HEAD.
  public static func head(_ url: String, headers: HTTPFields = [:]) -> Request {
    Request(.head, url, headers: headers)
  }

  /// POST.
  public static func post(
    _ url: String, headers: HTTPFields = [:], body: RequestBody = .empty
  ) -> Request { Request(.post, url, headers: headers, body: body) }

  /// PUT.
  public static func put(
    _ url: String, headers: HTTPFields = [:], body: RequestBody = .empty
  ) -> Request { Request(.put, url, headers: headers, body: body) }

  /// PATCH.
  public static func patch(
    _ url: String, headers: HTTPFields = [:], body: RequestBody = .empty
  ) -> Request { Request(.patch, url, headers: headers, body: body) }

  /// DELETE.
  public static func delete(_ url: String, headers: HTTPFields = [:]) -> Request {
    Request(.delete, url, headers: headers)
  }

  /// OPTIONS.
  public static func options(_ url: String, headers: HTTPFields = [:]) -> Request {
    Request(.options, url, headers: headers)
  }
}

extension Request: CustomStringConvertible {
  /// Method and URL, secrets cut.
  public var description: String { "\(method) \(Redaction.url(url))" }
}
