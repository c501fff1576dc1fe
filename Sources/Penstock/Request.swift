/// A request: method, URL, fields, content, and what it wants otherwise than its client.
public struct Request: Sendable {
  /// All of it in one place, so that a copy is one reference.
  private final class Storage: @unchecked Sendable {
    // Sendable: it is changed only by the one value that refers to it.
    @exclusivity(unchecked) var method: HTTPMethod
    @exclusivity(unchecked) var url: String
    @exclusivity(unchecked) var headers: HTTPFields
    @exclusivity(unchecked) var body: RequestBody
    @exclusivity(unchecked) var choices: CopyOnWrite<RequestChoices>

    init(
      _ method: HTTPMethod, _ url: String, _ headers: HTTPFields, _ body: RequestBody,
      _ choices: CopyOnWrite<RequestChoices>
    ) {
      self.method = method
      self.url = url
      self.headers = headers
      self.body = body
      self.choices = choices
    }
  }

  private var storage: Storage

  /// The storage for a change: one that no other value sees.
  private var own: Storage {
    mutating get {
      if !isKnownUniquelyReferenced(&storage) {
        storage = Storage(storage.method, storage.url, storage.headers, storage.body, storage.choices)
      }
      return storage
    }
  }

  /// The method.
  public var method: HTTPMethod {
    get { storage.method }
    set { own.method = newValue }
  }
  /// The absolute URL, http or https. It is checked when the request is sent.
  public var url: String {
    get { storage.url }
    set { own.url = newValue }
  }
  /// Header fields, sent in this order. Host, Content-Length and Transfer-Encoding are made from URL and body.
  public var headers: HTTPFields {
    get { storage.headers }
    _modify {
      let own = own
      yield &own.headers
    }
  }
  /// The content.
  public var body: RequestBody {
    get { storage.body }
    set { own.body = newValue }
  }

  /// What it wants otherwise than its client.
  var choices: CopyOnWrite<RequestChoices> {
    get { storage.choices }
    set { own.choices = newValue }
  }

  /// A request from its parts.
  public init(
    _ method: HTTPMethod = .get, _ url: String, headers: HTTPFields = [:], body: RequestBody = .empty
  ) {
    storage = Storage(method, url, headers, body, RequestChoices.none)
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
