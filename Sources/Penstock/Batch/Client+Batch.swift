extension Client {
  /// Sends many requests and collects their bodies.
  ///
  /// - Parameters:
  ///   - inputs: the requests, read as there is room for them.
  ///   - limits: how much is under way at once.
  ///   - order: in which order results come.
  ///   - options: fail-fast, joining, validators, robots.
  ///   - limit: the largest body; a larger one is a failure of kind `bodyTooLarge`.
  ///   - isolation: the actor on which inputs are read, that of the caller: the closure of a lazy sequence may belong to
  ///     it. An array is read anywhere.
  public func batch<Inputs: Sequence>(
    _ inputs: sending Inputs, limits: BatchLimits = BatchLimits(), order: BatchOrder = .completion,
    options: BatchOptions = BatchOptions(), collecting limit: ByteCount = .mebibytes(8),
    isolation: (any Actor)? = #isolation
  ) -> Batch<Request, BatchResponse> where Inputs.Element == Request {
    Batch(
      self, inputs, isolation, Self.collecting(limit, { $0 }),
      .builtIn(limits.whereCollected, order, options, repeats: true))
  }

  /// Sends the requests of an asynchronous sequence and collects their bodies; see the one for sequences.
  public func batch<Inputs: AsyncSequence>(
    _ inputs: sending Inputs, limits: BatchLimits = BatchLimits(), order: BatchOrder = .completion,
    options: BatchOptions = BatchOptions(), collecting limit: ByteCount = .mebibytes(8)
  ) -> Batch<Request, BatchResponse> where Inputs.Element == Request {
    Batch(
      self, inputs, Self.collecting(limit, { $0 }),
      .builtIn(limits.whereCollected, order, options, repeats: true))
  }

  /// Sends the requests that a closure makes of the inputs and collects their bodies.
  ///
  /// ```swift
  /// for try await result in client.batch(urls, request: { .get($0) }) { … }
  /// ```
  ///
  /// - Parameters:
  ///   - inputs: anything that a request can be made of, read as there is room for it; results name them.
  ///   - limits: how much is under way at once.
  ///   - order: in which order results come.
  ///   - options: fail-fast, joining, validators, robots.
  ///   - limit: the largest body; a larger one is a failure of kind `bodyTooLarge`.
  ///   - isolation: the actor on which inputs are read, that of the caller.
  ///   - request: the request for an input; what it throws is the result of that input, and nothing is sent.
  public func batch<Inputs: Sequence>(
    _ inputs: sending Inputs, limits: BatchLimits = BatchLimits(), order: BatchOrder = .completion,
    options: BatchOptions = BatchOptions(), collecting limit: ByteCount = .mebibytes(8),
    isolation: (any Actor)? = #isolation, request: @escaping @Sendable (Inputs.Element) throws -> Request
  ) -> Batch<Inputs.Element, BatchResponse> where Inputs.Element: Sendable {
    Batch(
      self, inputs, isolation, Self.collecting(limit, Self.making(request)),
      .builtIn(limits.whereCollected, order, options, repeats: true))
  }

  /// The same for an asynchronous sequence of inputs.
  public func batch<Inputs: AsyncSequence>(
    _ inputs: sending Inputs, limits: BatchLimits = BatchLimits(), order: BatchOrder = .completion,
    options: BatchOptions = BatchOptions(), collecting limit: ByteCount = .mebibytes(8),
    request: @escaping @Sendable (Inputs.Element) throws -> Request
  ) -> Batch<Inputs.Element, BatchResponse> where Inputs.Element: Sendable {
    Batch(
      self, inputs, Self.collecting(limit, Self.making(request)),
      .builtIn(limits.whereCollected, order, options, repeats: true))
  }

  /// Sends many requests and gives each response, its body still on its way, to a closure.
  ///
  /// - Parameters:
  ///   - inputs: anything that a request can be made of, read as there is room for it.
  ///   - request: the request for an input; what it throws is the result of that input, and nothing is sent.
  ///   - transform: makes a value of a response. At most `limits.total` run at once; each holds its place until
  ///     it ends. What it throws is the result of that input; errors other than `HTTPError` as
  ///     `HTTPError.Kind.transformFailed`.
  public func batch<Inputs: Sequence, Value: Sendable>(
    _ inputs: sending Inputs, limits: BatchLimits = BatchLimits(), order: BatchOrder = .completion,
    options: BatchOptions = BatchOptions(), isolation: (any Actor)? = #isolation,
    request: @escaping @Sendable (Inputs.Element) throws -> Request,
    transform: @escaping @Sendable (Inputs.Element, Response) async throws -> Value
  ) -> Batch<Inputs.Element, Value> where Inputs.Element: Sendable {
    Batch(
      self, inputs, isolation, Self.work(request, transform),
      BatchSettings(limits: limits, order: order, options: options))
  }

  /// The same for an asynchronous sequence of inputs.
  public func batch<Inputs: AsyncSequence, Value: Sendable>(
    _ inputs: sending Inputs, limits: BatchLimits = BatchLimits(), order: BatchOrder = .completion,
    options: BatchOptions = BatchOptions(),
    request: @escaping @Sendable (Inputs.Element) throws -> Request,
    transform: @escaping @Sendable (Inputs.Element, Response) async throws -> Value
  ) -> Batch<Inputs.Element, Value> where Inputs.Element: Sendable {
    Batch(
      self, inputs, Self.work(request, transform),
      BatchSettings(limits: limits, order: order, options: options))
  }

  /// Sends many requests and gives each response, its body still on its way, to a closure; see the one that takes
  /// any input.
  public func batch<Inputs: Sequence, Value: Sendable>(
    _ inputs: sending Inputs, limits: BatchLimits = BatchLimits(), order: BatchOrder = .completion,
    options: BatchOptions = BatchOptions(), isolation: (any Actor)? = #isolation,
    transform: @escaping @Sendable (Response) async throws -> Value
  ) -> Batch<Request, Value> where Inputs.Element == Request {
    Batch(
      self, inputs, isolation, Self.work({ $0 }, { _, response in try await transform(response) }),
      BatchSettings(limits: limits, order: order, options: options))
  }

  /// The same for an asynchronous sequence of requests.
  public func batch<Inputs: AsyncSequence, Value: Sendable>(
    _ inputs: sending Inputs, limits: BatchLimits = BatchLimits(), order: BatchOrder = .completion,
    options: BatchOptions = BatchOptions(),
    transform: @escaping @Sendable (Response) async throws -> Value
  ) -> Batch<Request, Value> where Inputs.Element == Request {
    Batch(
      self, inputs, Self.work({ $0 }, { _, response in try await transform(response) }),
      BatchSettings(limits: limits, order: order, options: options))
  }

  // MARK: how

  private static func collecting<Input: Sendable>(
    _ limit: ByteCount, _ request: @escaping @Sendable (Input) throws(HTTPError) -> Request
  ) -> BatchWork<Input, BatchResponse> {
    BatchWork(
      request: request, bytes: { Int64($0.body.count) },
      exchange: .transform { _, response throws(HTTPError) in
        let body = try await response.body.collect(upTo: limit)
        return BatchResponse(
          head: response.head, url: response.url, history: response.history, body: body,
          facts: response.finalFacts ?? response.facts)
      })
  }

  /// The closure of a caller, which may throw anything.
  private static func making<Input>(
    _ request: @escaping @Sendable (Input) throws -> Request
  ) -> @Sendable (Input) throws(HTTPError) -> Request {
    { input throws(HTTPError) in
      do { return try request(input) } catch { throw BatchFailure.of(error) }
    }
  }

  private static func work<Input: Sendable, Value: Sendable>(
    _ request: @escaping @Sendable (Input) throws -> Request,
    _ transform: @escaping @Sendable (Input, Response) async throws -> Value
  ) -> BatchWork<Input, Value> {
    BatchWork(
      request: making(request),
      exchange: .transform { input, response throws(HTTPError) in
        do {
          return try await transform(input, response)
        } catch {
          throw BatchFailure.of(error)
        }
      })
  }
}

/// What the caller's closures throw, as the one error type.
enum BatchFailure {
  static func of(_ error: any Error) -> HTTPError {
    .thrown(
      error, or: .transformFailed, phase: .decode, "the batch's closure failed: \(String(describing: error))")
  }
}
