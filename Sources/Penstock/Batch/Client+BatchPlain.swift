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
    var settings = BatchSettings<Value>(limits: limits, order: order, options: options)
    settings.isBuiltIn = true
    settings.mayRepeatTransform = true
    settings.isFailure = isFailure
    let work = BatchWork<Inputs.Element, Value>(
      request: request, joinKey: joinKey,
      exchange: .transform { input, response throws(HTTPError) in
        let value = try await transform(input, response)
        return BatchProduct(value: value, bytes: bytes(value))
      })
    return Batch(self, AsyncSequenceSource(inputs), work, settings)
  }
}
