extension Client {
  /// The batch of the command: a transform that is ours, so that it runs where requests are served, says which
  /// values are failures and how many bytes each holds, and keeps nothing of a try that breaks off.
  package func batch<Inputs: AsyncSequence, Value: Sendable>(
    _ inputs: sending Inputs, limits: BatchLimits, order: BatchOrder, options: BatchOptions,
    joinKey: @escaping @Sendable (Inputs.Element, Request) -> String?,
    isFailure: @escaping @Sendable (Value) -> Bool, bytes: @escaping @Sendable (Value) -> Int64,
    request: @escaping @Sendable (Inputs.Element) throws(HTTPError) -> Request,
    transform: @escaping @Sendable (Inputs.Element, Response) async throws(HTTPError) -> Value
  ) -> Batch<Inputs.Element, Value> where Inputs.Element: Sendable {
    let work = BatchWork<Inputs.Element, Value>(
      request: request, joinKey: joinKey, bytes: bytes, isFailure: isFailure, exchange: .transform(transform))
    return Batch(self, inputs, work, .builtIn(limits, order, options, repeats: true))
  }
}
