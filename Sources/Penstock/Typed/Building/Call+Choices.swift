extension Call {
  /// Changes the request when it is made, behind all that came before: limits, TLS, auth, whatever a `Request` can say.
  ///
  /// ```swift
  /// client.path("report").modify { $0.decodesContent = false }
  /// ```
  ///
  /// What it throws fails the call before any byte is sent.
  public func modify(_ change: @escaping @Sendable (inout Request) throws -> Void) -> Call {
    with { $0.changes.append(change) }
  }

  /// Changes the request when it is made, behind all that the chain changes, also further on: for signatures and
  /// the like on a call that branches share. Several go in their order.
  ///
  /// What it throws fails the call before any byte is sent.
  public func finalize(_ change: @escaping @Sendable (inout Request) throws -> Void) -> Call {
    with { $0.lastChanges.append(change) }
  }

  /// Sets one of the request's own choices.
  public func setting<Value: Sendable>(
    _ property: any WritableKeyPath<Request, Value> & Sendable, _ value: Value
  ) -> Call {
    modify { $0[keyPath: property] = value }
  }

  /// Sets a value of your own for middlewares further in; see `RequestKey`.
  public func setting<Key: RequestKey>(_ key: Key.Type, _ value: Key.Value) -> Call {
    modify { $0[key] = value }
  }

  /// Puts stages around this call, inside the client's and those of the chain so far; the first is outermost.
  public func middleware(_ middlewares: any Middleware...) -> Call {
    modify { $0.middlewares += middlewares }
  }

  /// When failed attempts of this call are made again, in place of the client's policy.
  public func retry(_ policy: RetryPolicy) -> Call { modify { $0.retry = policy } }

  /// Makes failed attempts of this call again, so often at most; 0: never. All else is as the client's policy says, or
  /// as by default.
  public func retry(limit: Int) -> Call {
    var policy = client.configuration.retry ?? RetryPolicy()
    policy.limit = limit
    return retry(policy)
  }

  /// The whole call may take so long; else it throws `HTTPError.Kind.totalTimeout`.
  public func timeout(_ limit: Duration) -> Call {
    let defaults = client.configuration.timeouts
    return modify { request in
      var limits = request.timeouts ?? defaults
      limits.total = limit
      request.timeouts = limits
    }
  }

  /// All limits of time, in place of the client's.
  public func timeouts(_ limits: TimeLimits) -> Call { modify { $0.timeouts = limits } }

  /// Larger goes first among the waiting requests of a host.
  public func priority(_ priority: Int) -> Call { modify { $0.priority = priority } }

  /// Which redirects are followed.
  public func redirects(_ policy: RedirectPolicy) -> Call { modify { $0.redirects = policy } }

  /// What an answer must be like, beside what the chain and the client ask for already.
  public func validate(_ validation: Validation) -> Call {
    with { $0.validation = $0.validation.and(validation) }
  }

  /// Which statuses are accepted.
  public func accept(_ statuses: Validation.Statuses) -> Call { validate(.statuses(statuses)) }

  /// Which statuses are accepted.
  public func accept(statuses codes: Int...) -> Call { validate(.statuses(.oneOf(Set(codes)))) }

  /// Reads the bodies of answers that aren't accepted as this type; the error's `apiError` has it.
  public func decodingErrors<Failure: Error & Decodable>(as type: Failure.Type) -> Call {
    errorDecoding(.type(type))
  }

  /// How the bodies of answers that aren't accepted are read.
  public func errorDecoding(_ decoding: ErrorDecoding) -> Call { with { $0.errorDecoding = decoding } }

  /// Sees each failure of this call, what can't be built and what can't be decoded included, and says what is thrown:
  /// the same error, or another one. Several go in their order, the client's comes last.
  public func onFailure(_ handle: @escaping @Sendable (HTTPError) -> HTTPError) -> Call {
    with { $0.failureHandlers.append(handle) }
  }

  /// The largest body that is collected.
  public func bodyLimit(_ limit: ByteCount) -> Call { with { $0.bodyLimit = limit } }
}
