/// An answer that a call doesn't accept or can't read: the head and the begin of the body.
public struct ErrorResponse: Sendable, Hashable {
  /// The status.
  public let status: HTTPStatus
  /// The header fields.
  public let headers: [HTTPFields.Field]
  /// The begin of the body, at most 64 KiB; for a status that isn't accepted as much as `APIDefaults.errorBodyLimit`
  /// says.
  public let body: [UInt8]
  /// Whether the body was longer than what was kept, or broke off.
  public let isCut: Bool

  package init(status: HTTPStatus, headers: HTTPFields, body: [UInt8], isCut: Bool) {
    self.status = status
    self.headers = Array(headers)
    self.body = body
    self.isCut = isCut
  }

  /// The body as text; bytes that aren't UTF-8 are replaced.
  public var text: String { String(decoding: body, as: UTF8.self) }
  /// The first value of a field, in any case.
  public func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

/// Where and why content couldn't be decoded.
public struct DecodingFailure: Sendable, Hashable {
  /// The place in the value that was asked for, such as `data.items[3].name`; empty at the top.
  public let codingPath: String
  /// What was wrong there.
  public let reason: String
  /// The position of the offending byte or value in the body, where it is known.
  public let byteOffset: Int?
  /// A few bytes around that position, else the begin of the body; at most 160 bytes.
  public let excerpt: String

  package init(codingPath: String, reason: String, byteOffset: Int?, excerpt: String) {
    self.codingPath = codingPath
    self.reason = reason
    self.byteOffset = byteOffset
    self.excerpt = excerpt
  }
}

extension HTTPError {
  /// What only some errors have; one reference for all others.
  package struct Details: Sendable {
    package var response: ErrorResponse?
    package var decoding: DecodingFailure?
    package var apiError: (any Error)?

    package init() {}
  }

  /// The answer with the begin of its body, for errors of kinds `httpStatus`, `decodingFailed` and `validationFailed`.
  public var response: ErrorResponse? { storage.details?.response }
  /// Where decoding failed, for an error of kind `decodingFailed`.
  public var decoding: DecodingFailure? { storage.details?.decoding }
  /// What the server said in its own error type, where the call knows one (`decodingErrors(as:)`).
  public var apiError: (any Error)? { storage.details?.apiError }

  /// What the server said, as this type.
  public func apiError<Failure: Error>(as type: Failure.Type) -> Failure? {
    storage.details?.apiError as? Failure
  }

  /// A copy with more to say.
  package func adding(_ change: (inout Details) -> Void) -> HTTPError {
    var details = storage.details ?? Details()
    change(&details)
    return copy(details: details)
  }
}
