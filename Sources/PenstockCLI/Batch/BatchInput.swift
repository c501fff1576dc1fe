import Penstock

/// One input of a batch, as its line said it.
struct BatchInput: Sendable {
  /// What a JSON line says beside the URL.
  final class Details: Sendable {
    let method: String?
    let headers: [(name: String, value: String)]
    let body: String?
    let file: String?
    let priority: Int

    init(
      method: String?, headers: [(name: String, value: String)], body: String?, file: String?, priority: Int
    ) {
      self.method = method
      self.headers = headers
      self.body = body
      self.file = file
      self.priority = priority
    }
  }

  /// What a result names its input by.
  enum ID: Sendable, Equatable {
    /// The number of its line, from 1.
    case line(Int)
    case string(String)
    /// A JSON number as it was written.
    case number(String)
  }

  let id: ID
  /// Empty when the line has none.
  let url: String
  let details: Details?
  /// Why the line can't be understood.
  let failure: HTTPError?
  /// How many bytes of the input lie before its end.
  let end: Int64

  init(id: ID, url: String, details: Details? = nil, failure: HTTPError? = nil, end: Int64 = 0) {
    self.id = id
    self.url = url
    self.details = details
    self.failure = failure
    self.end = end
  }

  /// The request, from the one that all inputs have in common.
  func request(_ template: Request, _ makeURL: (@Sendable (String) -> String)?) throws(HTTPError) -> Request {
    if let failure { throw failure }
    var request = template
    request.url = makeURL?(url) ?? url
    guard let details else { return request }
    for (name, _) in details.headers { request.headers.removeAll(name) }
    for (name, value) in details.headers {
      request.headers.append(name, value)
      request.keepAtHome(name)
    }
    if let body = details.body {
      request.body = .string(body)
      if details.method == nil, request.method == .get { request.method = .post }
    }
    if let method = details.method { request.method = HTTPMethod(method) }
    if details.priority != 0 { request.priority = details.priority }
    return request
  }

  /// What makes it the same exchange as another. `names`: whether the file it goes to counts.
  func exchangeKey(names: Bool) -> String {
    guard let details else { return "GET \(url)" }
    var key = "\(details.method ?? (details.body == nil ? "GET" : "POST")) \(url)"
    for (name, value) in details.headers { key += "\n\(name.utf8.count):\(name.lowercased())=\(value)" }
    if let body = details.body { key += "\n\n" + body }
    if names, let file = details.file { key += "\n\n\n" + file }
    return key
  }

  /// What it is known by in a state file: the exchange, and the `id` where one was given.
  var stateKey: String {
    switch id {
    case .line: exchangeKey(names: false)
    case .string(let text): exchangeKey(names: false) + "\n\n\ns" + text
    case .number(let text): exchangeKey(names: false) + "\n\n\nn" + text
    }
  }
}
