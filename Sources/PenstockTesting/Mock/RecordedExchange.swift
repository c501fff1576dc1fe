import FoundationEssentials
import StreamCore

/// One exchange in a recording: a line of JSON.
struct RecordedExchange: Codable, Sendable {
  struct Field: Codable, Sendable {
    var name: String
    var value: String
  }

  struct Head: Codable, Sendable {
    var status: Int
    var reason: String
    var version: String
    var fields: [Field]

    init(_ head: ResponseHead) {
      status = head.status.code
      reason = head.reason
      version = head.version.rawValue
      fields = head.headers.map { Field(name: $0.name, value: Redacted.value($0)) }
    }

    var head: ResponseHead {
      var headers = HTTPFields()
      for field in fields { headers.append(field.name, field.value) }
      return ResponseHead(
        status: HTTPStatus(status), reason: reason, version: HTTPVersion(rawValue: version) ?? .http1_1,
        headers: headers)
    }
  }

  enum Redacted {
    static func value(_ field: HTTPFields.Field) -> String {
      Redaction.isSecretField(field.name) ? Redaction.mark : field.value
    }
  }

  var method: String
  var url: String
  var requestBody: Data
  var informational: [Head] = []
  var head: Head?
  /// The body in the pieces that it came in, as it was on the wire.
  var body: [Data] = []
  var trailers: [Field]?
  var failure: String?

  init(_ method: HTTPMethod, _ url: String) {
    self.method = method.rawValue
    self.url = Redaction.url(url)
    requestBody = Data()
  }

  /// A request's body as it is compared: the boundary of a multipart one is random, so another stands in its place.
  static func comparable(_ body: [UInt8], _ contentType: String?) -> Data {
    guard let boundary = contentType.flatMap(MultipartBoundary.of) else { return Data(body) }
    return Data(body.replacing(Array(boundary.utf8), with: Array("boundary".utf8)))
  }

  var answer: MockAnswer {
    var steps: [MockAnswer.Step] = informational.map { .informational($0.head) }
    if let head { steps.append(.head(head.head)) }
    steps += body.map { .bytes(Array($0)) }
    if let trailers {
      var fields = HTTPFields()
      for field in trailers { fields.append(field.name, field.value) }
      steps.append(.trailers(fields))
    }
    if let failure { steps.append(.fail(HTTPError.Kind(rawValue: failure) ?? .transport)) }
    return MockAnswer(steps)
  }
}
