/// How the body of an answer that isn't accepted is read.
public struct ErrorDecoding: Sendable {
  let decode: @Sendable (RawResponse, any BodyDecoder) -> (any Error)?

  /// By a function of your own; nil: it says nothing.
  public init(_ decode: @escaping @Sendable (RawResponse) -> (any Error)?) {
    self.decode = { raw, _ in decode(raw) }
  }

  private init(decoding: @escaping @Sendable (RawResponse, any BodyDecoder) -> (any Error)?) {
    decode = decoding
  }

  /// As a type of your own, by the call's decoder. A body that isn't of that type gives none.
  public static func type<Failure: Error & Decodable>(_ type: Failure.Type) -> ErrorDecoding {
    ErrorDecoding(decoding: { raw, decoder in try? raw.decode(Failure.self, by: decoder) })
  }

  /// By the status: the first whose statuses fit.
  public static func byStatus(_ cases: [(Validation.Statuses, ErrorDecoding)]) -> ErrorDecoding {
    ErrorDecoding(decoding: { raw, decoder in
      cases.first { $0.0.accepts(raw.status) }?.1.decode(raw, decoder)
    })
  }

  /// Problem details (RFC 9457), where the content type says that it is that.
  public static let problemDetails = ErrorDecoding { raw in
    guard let type = raw.headers["Content-Type"].flatMap(MediaType.init),
      type.essence == "application/problem+json"
    else { return nil }
    return try? raw.decode(ProblemDetails.self)
  }
}

/// What a server says about a failure in `application/problem+json` (RFC 9457).
public struct ProblemDetails: Error, Sendable, Hashable, Decodable {
  /// What kind of problem it is, a URI reference; `about:blank` says no more than the status.
  public let type: String
  /// A short text that is the same for all problems of this kind.
  public let title: String?
  /// The status that the server gave it.
  public let status: Int?
  /// What is wrong this time.
  public let detail: String?
  /// Which occurrence it is, a URI reference.
  public let instance: String?
  /// Members of the problem's own.
  public let extensions: [String: JSONTree]

  /// Reads it; members of the wrong type count as absent (RFC 9457 §3.1).
  public init(from decoder: any Decoder) throws {
    let members = try decoder.singleValueContainer().decode([String: JSONTree].self)
    type = members["type"]?.string ?? "about:blank"
    title = members["title"]?.string
    status = members["status"]?.int
    detail = members["detail"]?.string
    instance = members["instance"]?.string
    extensions = members.filter { !["type", "title", "status", "detail", "instance"].contains($0.key) }
  }
}

extension HTTPError {
  /// What the server said as problem details (RFC 9457), for a call that has no error type of its own.
  public var problem: ProblemDetails? { apiError(as: ProblemDetails.self) }

  /// A sentence for the people who use a program: what the server says for them where it says something, else what
  /// happened in plain words. No URL, no code.
  public var userMessage: String {
    if let text = serverMessage { return text }
    switch kind {
    case .cancelled: return "The request was cancelled."
    case .hostNotResolved, .proxyNotResolved, .connectFailed, .connectTimeout, .proxyRefused:
      return "The server can't be reached. Please check the connection and try again."
    case .admissionTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout:
      return "The server took too long to answer. Please try again."
    case .tlsHandshake, .serverCertificate, .clientCertificate, .pinnedKeyMismatch:
      return "A secure connection to the server can't be made."
    case .emptyReply, .sendFailed, .receiveFailed, .connectionLost, .truncated, .http2Framing, .http2Stream:
      return "The connection was lost. Please try again."
    case .httpStatus: return Self.sentence(for: status)
    case .loginDenied: return "Please sign in again."
    case .decodingFailed, .validationFailed, .malformedResponse, .contentEncoding:
      return "The server's answer can't be understood."
    case .bodyTooLarge, .headTooLarge, .lineTooLong: return "The server's answer is too large."
    case .diskFull: return "There is no room left on the disk."
    default: return "Something went wrong. Please try again."
    }
  }

  private static func sentence(for status: HTTPStatus?) -> String {
    switch status?.code {
    case 401: "Please sign in again."
    case 403: "You aren't allowed to do this."
    case 404, 410: "This wasn't found."
    case 409: "This has been changed meanwhile. Please look again."
    case 413: "This is too large for the server."
    case 429: "Too many requests. Please wait a moment."
    case .some(500...): "The server has a problem. Please try again later."
    default: "The server refused the request."
    }
  }

  /// The first of some usual members that is a short text.
  private var serverMessage: String? {
    if let problem, let text = problem.detail ?? problem.title { return Self.short(text) }
    guard let response,
      let json = try? JSONCoding.standard.decode(JSONTree.self, from: response.body, headers: [:])
    else { return nil }
    for holder in [json, json["error"]].compactMap({ $0 }) {
      for name in ["reason", "title", "message", "detail", "error_description", "error"] {
        if let text = holder[name]?.string.flatMap(Self.short) { return text }
      }
    }
    return nil
  }

  private static func short(_ text: String) -> String? {
    text.isEmpty || text.utf8.count > 500 || text.contains(where: \.isNewline) ? nil : text
  }
}
