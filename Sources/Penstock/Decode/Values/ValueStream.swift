/// A body as values, decoded one by one as they are asked for.
///
/// Leaving the loop ends the exchange. A body can be read once.
public struct ValueStream<Element: Sendable>: AsyncSequence, Sendable {
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  private let records: FramedBody<AnyRecordFramer>
  private let origin: BodyOrigin?
  private let read: @Sendable (StreamRecord) -> RecordOutcome<Element>

  init<Value: Sendable>(
    _ body: ResponseBody, by framer: any ByteFramer<StreamRecord>,
    onInvalid policy: InvalidRecordPolicy<Value, Element>,
    decode: @escaping @Sendable (StreamRecord) throws(RecordFault) -> Value
  ) {
    let origin = body.origin
    records = FramedBody(body, AnyRecordFramer(base: framer))
    self.origin = origin
    read = { record in
      do throws(RecordFault) {
        return .element(policy.accept(try decode(record)))
      } catch {
        let error = HTTPError(.invalidRecord, phase: .decode, message: error.message(record.number))
        return policy.reject(
          InvalidRecord(
            number: record.number, bytes: record.bytes, error: origin?.naming(error) ?? error))
      }
    }
  }

  /// The one iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(records: records.makeAsyncIterator(), read: read) }

  /// Hands out the values.
  public struct Iterator: AsyncIteratorProtocol {
    private var records: FramedBody<AnyRecordFramer>.Iterator?
    private let read: @Sendable (StreamRecord) -> RecordOutcome<Element>
    private var failure: HTTPError?

    init(
      records: FramedBody<AnyRecordFramer>.Iterator,
      read: @escaping @Sendable (StreamRecord) -> RecordOutcome<Element>
    ) {
      self.records = records
      self.read = read
    }

    /// The next value, nil at the end.
    ///
    /// - Throws: `HTTPError.Kind.invalidRecord` for a record that can't be decoded, unless such are skipped or
    ///   yielded; `lineTooLong` for one above the limit; and whatever ended the body.
    public mutating func next() async throws(HTTPError) -> Element? {
      if let failure { throw failure }
      while var records {
        let record = try await records.next()
        self.records = records
        guard let record else { return nil }
        switch read(record) {
        case .element(let element): return element
        case .skip: continue
        case .fail(let error):
          failure = error
          // Ends the exchange.
          self.records = nil
          throw error
        }
      }
      return nil
    }

    /// The next value, nil at the end, without leaving the caller's actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(HTTPError) -> Element? {
      try await next()
    }
  }
}

/// Any framer of records: one call for a whole batch, so the indirection costs nothing.
struct AnyRecordFramer: ByteFramer {
  var base: any ByteFramer<StreamRecord>

  mutating func feed(_ bytes: BodyChunk, into elements: inout [StreamRecord]) throws(HTTPError) {
    try base.feed(bytes, into: &elements)
  }

  mutating func finish(into elements: inout [StreamRecord]) throws(HTTPError) {
    try base.finish(into: &elements)
  }
}

/// Why a record can't be decoded.
struct RecordFault: Error {
  /// What the record is called: "line", "element", "record".
  let name: String
  let reason: String

  func message(_ number: Int64) -> String { "\(name) \(number) can't be read: \(reason)" }
}
