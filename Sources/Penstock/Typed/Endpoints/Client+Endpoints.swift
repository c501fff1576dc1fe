extension Client {
  /// Makes the call of an endpoint; the value is in the response's `value`, beside status, fields and timings.
  ///
  /// - Throws: as `Call.value(as:)`.
  @discardableResult
  public func send<E: Endpoint>(_ endpoint: E) async throws(HTTPError) -> TypedResponse<E.Value> {
    let call = endpoint.call(self)
    return try await CallRun(call).told { () async throws(HTTPError) in
      do throws(HTTPError) {
        let run = CallRun(try await endpoint.prepare(call))
        let raw = try await run.validatedOrFail(decodes: true)
        return TypedResponse(try endpoint.value(from: raw, by: run.decoder), raw)
      } catch {
        throw endpoint.telling(error)
      }
    }
  }

  /// Makes the call of an endpoint and gives its value, where that is the type that is asked for:
  /// `let article: Article = try await client.send(GetArticle(id: 7))`.
  ///
  /// - Throws: as `Call.value(as:)`.
  @_disfavoredOverload
  public func send<E: Endpoint>(_ endpoint: E) async throws(HTTPError) -> E.Value {
    let response: TypedResponse<E.Value> = try await send(endpoint)
    return response.value
  }

  /// Makes the call of an endpoint and gives its outcome for a `switch`: the value, what the server said in the
  /// endpoint's error type, or another failure.
  public func result<E: Endpoint>(_ endpoint: E) async -> CallResult<E.Value, E.Failure> {
    do throws(HTTPError) {
      let response: TypedResponse<E.Value> = try await send(endpoint)
      return .success(response.value)
    } catch {
      return CallResult(error)
    }
  }

  /// The call of an endpoint, for changing it or for another kind of answer (`raw`, `open`, `request`).
  public func call(_ endpoint: some Endpoint) -> Call { endpoint.call(self) }
}

extension Endpoint {
  /// The error with what the endpoint has to say to its status.
  fileprivate func telling(_ error: HTTPError) -> HTTPError {
    guard error.kind == .httpStatus, let status = error.status, let own = failure(for: status) else {
      return error
    }
    return error.adding { $0.apiError = own }
  }
}
