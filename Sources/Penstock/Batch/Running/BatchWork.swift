/// What a batch does with one input: its request, what makes it the same as another, and what comes of it.
struct BatchWork<Input: Sendable, Value: Sendable>: Sendable {
  enum Exchange: Sendable {
    /// The request is sent, and this gets the response.
    case transform(@Sendable (Input, Response) async throws(HTTPError) -> Value)
    /// This sends the request by its own way, and tells what its host made of it.
    case whole(@Sendable (Input, Request) async throws(HTTPError) -> (Value, BatchFacts))
  }

  let request: @Sendable (Input) throws(HTTPError) -> Request
  var joinKey: @Sendable (Input, Request) -> String? = { _, request in BatchJoining.key(request) }
  /// How many bytes of a body a value holds.
  var bytes: @Sendable (Value) -> Int64 = { _ in 0 }
  /// Values that count as failures for `failsFast` and joining.
  var isFailure: @Sendable (Value) -> Bool = { _ in false }
  let exchange: Exchange

  /// The same for those who don't know what inputs and values are.
  var steps: BatchSteps {
    typealias Cell = BatchCell<Input, Value>
    let (request, joinKey, bytes, isFailure) = (request, joinKey, bytes, isFailure)
    @Sendable func keep(_ value: Value, _ cell: Cell) {
      cell.bytes = bytes(value)
      cell.isFailed = isFailure(value)
      cell.value = value
    }
    let perform: BatchSteps.Exchange =
      switch exchange {
      case .transform(let transform):
        .transform { item, response throws(HTTPError) in
          let cell = Cell.of(item)
          keep(try await transform(cell.input, response), cell)
        }
      case .whole(let exchange):
        .whole { item, request throws(HTTPError) in
          let cell = Cell.of(item)
          let (value, facts) = try await exchange(cell.input, request)
          keep(value, cell)
          return facts
        }
      }
    return BatchSteps(
      request: { item throws(HTTPError) in try request(Cell.of(item).input) },
      joinKey: { item, request in joinKey(Cell.of(item).input, request) }, exchange: perform)
  }
}

/// A `BatchWork` over items: what comes of one is put into it.
struct BatchSteps: Sendable {
  enum Exchange: Sendable {
    case transform(@Sendable (BatchItem, Response) async throws(HTTPError) -> Void)
    case whole(@Sendable (BatchItem, Request) async throws(HTTPError) -> BatchFacts)
  }

  let request: @Sendable (BatchItem) throws(HTTPError) -> Request
  let joinKey: @Sendable (BatchItem, Request) -> String?
  let exchange: Exchange
}
