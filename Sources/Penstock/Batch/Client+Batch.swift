extension Client {
  /// Sends many requests and collects their bodies.
  ///
  /// - Parameters:
  ///   - inputs: the requests, read as there is room for them, on any thread: a lazy sequence whose closure belongs to an
  ///     actor (at the top level of `main.swift` all do) ends the process.
  ///   - limits: how much is under way at once.
  ///   - order: in which order results come.
  ///   - options: fail-fast, joining, validators, robots.
  ///   - limit: the largest body; a larger one is a failure of kind `bodyTooLarge`.
  public func batch<Inputs: Sequence>(
    _ inputs: sending Inputs, limits: BatchLimits = BatchLimits(), order: BatchOrder = .completion,
    options: BatchOptions = BatchOptions(), collecting limit: ByteCount = .mebibytes(8)
  ) -> Batch<Request, BatchResponse> where Inputs.Element == Request {
    Batch(
      self, inputs, Self.collecting(limit), .builtIn(limits.whereCollected, order, options, repeats: true))
  }

  /// Sends the requests of an asynchronous sequence and collects their bodies; see the one for sequences.
  public func batch<Inputs: AsyncSequence>(
    _ inputs: sending Inputs, limits: BatchLimits = BatchLimits(), order: BatchOrder = .completion,
    options: BatchOptions = BatchOptions(), collecting limit: ByteCount = .mebibytes(8)
  ) -> Batch<Request, BatchResponse> where Inputs.Element == Request {
    Batch(
      self, inputs, Self.collecting(limit), .builtIn(limits.whereCollected, order, options, repeats: true))
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
    options: BatchOptions = BatchOptions(),
    request: @escaping @Sendable (Inputs.Element) throws -> Request,
    transform: @escaping @Sendable (Inputs.Element, Response) async throws -> Value
  ) -> Batch<Inputs.Element, Value> where Inputs.Element: Sendable {
    Batch(
      self, inputs, Self.work(request, transform),
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
    options: BatchOptions = BatchOptions(),
    transform: @escaping @Sendable (Response) async throws -> Value
  ) -> Batch<Request, Value> where Inputs.Element == Request {
    Batch(
      self, inputs, Self.work({ $0 }, { _, response in try await transform(response) }),
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

  private static func collecting(_ limit: ByteCount) -> BatchWork<Request, BatchResponse> {
    BatchWork(
      request: { $0 }, bytes: { Int64($0.body.count) },
      exchange: .transform { _, response throws(HTTPError) in
        let body = try await response.body.collect(upTo: limit)
        return BatchResponse(
          head: response.head, url: response.url, history: response.history, body: body,
          facts: response.finalFacts ?? response.facts)
      })
  }

  private static func work<Input: Sendable, Value: Sendable>(
    _ request: @escaping @Sendable (Input) throws -> Request,
    _ transform: @escaping @Sendable (Input, Response) async throws -> Value
  ) -> BatchWork<Input, Value> {
    BatchWork(
      request: { input throws(HTTPError) in
        do { return try request(input) } catch { throw BatchFailure.of(error) }
      },
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
