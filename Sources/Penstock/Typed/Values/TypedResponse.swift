/// A whole answer with the value that was in it.
@dynamicMemberLookup
public struct TypedResponse<Value: Sendable>: Sendable {
  /// The value.
  public let value: Value
  /// The answer as it came.
  public let raw: RawResponse

  init(_ value: Value, _ raw: RawResponse) {
    self.value = value
    self.raw = raw
  }

  /// Status, headers, bytes, timings, URL and the rest of the answer.
  public subscript<Member>(dynamicMember path: KeyPath<RawResponse, Member>) -> Member { raw[keyPath: path] }
  /// The first value of a field, in any case.
  public func header(_ name: String) -> String? { raw.header(name) }
}

/// How a call came out, for those who would rather switch than catch.
public enum CallResult<Value: Sendable, Failure: Error>: Sendable {
  /// The value.
  case success(Value)
  /// The server said no, in its own words.
  case apiError(Failure, ErrorResponse)
  /// Anything else.
  case failure(HTTPError)

  /// What an error means: what the server said, where it said it in this type.
  init(_ error: HTTPError) {
    if error.kind == .httpStatus, let said = error.apiError(as: Failure.self), let response = error.response {
      self = .apiError(said, response)
    } else {
      self = .failure(error)
    }
  }
}
