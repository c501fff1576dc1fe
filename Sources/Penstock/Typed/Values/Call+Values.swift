public import FoundationEssentials

extension Call {
  /// Makes the call and gives the value in the answer.
  ///
  /// `String`, `Data` and `[UInt8]` take the body as it is. An empty body is an empty one of these, nil for an optional
  /// type, `NoContent`, and an error for any other type.
  ///
  /// - Throws: `HTTPError`: what can't be built, before any byte is sent; what went wrong on the way; `httpStatus` for a
  ///   status that isn't accepted, with the begin of the body in `response` and what the server said in `apiError`;
  ///   `validationFailed`; `decodingFailed` with coding path and excerpt in `decoding`; `bodyTooLarge`.
  public func value<Value: Decodable & Sendable>(
    as type: Value.Type = Value.self
  ) async throws(HTTPError) -> Value {
    let run = CallRun(self)
    return try await run.told { () async throws(HTTPError) in
      try await run.validatedOrFail(decodes: true).decode(type, by: run.decoder)
    }
  }

  /// Makes the call and ignores what is in the answer; for a result of type `Void`.
  ///
  /// - Throws: as `value(as:)`, but for decoding.
  public func value() async throws(HTTPError) { try await send() }

  /// Makes the call and gives the value with status, fields, bytes, timings and the URL that answered.
  ///
  /// - Throws: as `value(as:)`.
  public func response<Value: Decodable & Sendable>(
    as type: Value.Type = Value.self
  ) async throws(HTTPError) -> TypedResponse<Value> {
    let run = CallRun(self)
    return try await run.told { () async throws(HTTPError) in
      let raw = try await run.validatedOrFail(decodes: true)
      return TypedResponse(try raw.decode(type, by: run.decoder), raw)
    }
  }

  /// Makes the call and gives the value with the header fields.
  ///
  /// - Throws: as `value(as:)`.
  public func valueAndHeaders<Value: Decodable & Sendable>(
    as type: Value.Type = Value.self
  ) async throws(HTTPError) -> (value: Value, headers: HTTPFields) {
    let response = try await response(as: type)
    return (response.value, response.raw.headers)
  }

  /// Makes the call and gives the whole answer as it came.
  ///
  /// - Parameter allowHTTPError: whether any status is given, without validation; else only an accepted one.
  /// - Throws: as `value(as:)`, but for decoding.
  public func raw(allowHTTPError: Bool = true) async throws(HTTPError) -> RawResponse {
    let run = CallRun(self)
    return try await run.told { () async throws(HTTPError) in
      allowHTTPError ? try await run.whole() : try await run.validatedOrFail(decodes: false)
    }
  }

  /// Makes the call for its effect; the body of the answer is read and dropped.
  ///
  /// - Throws: as `value(as:)`, but for decoding.
  public func send() async throws(HTTPError) { _ = try await raw(allowHTTPError: false) }

  /// Makes the call and gives the answer with its body still on its way, once status and content type are
  /// accepted. Further checks aren't made, since they need the whole body.
  ///
  /// - Throws: as `value(as:)`, but for what comes behind the head.
  public func open() async throws(HTTPError) -> Response {
    let run = CallRun(self)
    return try await run.told { () async throws(HTTPError) in try await run.accepted() }
  }

  /// Makes the call and gives the body as text, in the character set that the answer names, else UTF-8.
  ///
  /// - Throws: as `value(as:)`.
  public func string() async throws(HTTPError) -> String {
    let run = CallRun(self)
    return try await run.told { () async throws(HTTPError) in
      try await run.validatedOrFail(decodes: false).string()
    }
  }

  /// Makes the call and gives the body as bytes.
  ///
  /// - Throws: as `value(as:)`, but for decoding.
  public func bytes() async throws(HTTPError) -> [UInt8] {
    try await raw(allowHTTPError: false).bytes
  }

  /// Makes the call and gives the body as `Data`.
  ///
  /// - Throws: as `value(as:)`, but for decoding.
  public func data() async throws(HTTPError) -> Data { Data(try await bytes()) }

  /// Makes the call and gives the value, or nil for a status of 204 or 205, for an empty body and for one that is `null`.
  ///
  /// - Parameter notFoundIsNil: whether 404 and 410 are nil too.
  /// - Throws: as `value(as:)`.
  public func optionalValue<Value: Decodable & Sendable>(
    as type: Value.Type = Value.self, notFoundIsNil: Bool = false
  ) async throws(HTTPError) -> Value? {
    let run = CallRun(self)
    return try await run.told { () async throws(HTTPError) in
      let raw = try await run.validated(decodes: true) { status in
        notFoundIsNil && (status == 404 || status == 410)
      }
      guard let raw, !raw.bytes.isEmpty, raw.status != 204, raw.status != 205 else { return nil }
      if raw.isNull, !RawResponse.isTakenAsItIs(type) { return nil }
      return try raw.decode(type, by: run.decoder)
    }
  }

  /// Makes the call and gives its outcome for a `switch`: the value, what the server said in its error type, or
  /// another failure.
  public func result<Value: Decodable & Sendable, Failure: Error & Decodable>(
    as type: Value.Type = Value.self, error failure: Failure.Type = ProblemDetails.self
  ) async -> CallResult<Value, Failure> {
    let call = failure == ProblemDetails.self ? self : decodingErrors(as: failure)
    do throws(HTTPError) {
      return .success(try await call.value(as: type))
    } catch {
      return CallResult(error)
    }
  }
}

extension CallRun {
  func validatedOrFail(decodes: Bool) async throws(HTTPError) -> RawResponse {
    guard let raw = try await validated(decodes: decodes) else {
      throw HTTPError(.malformedResponse, phase: .head, message: "there is no answer")
    }
    return raw
  }
}
