/// A body as values, decoded one by one as they are asked for.
///
/// Leaving the loop ends the exchange. A body can be read once.
public struct ValueStream<Element: Sendable>: AsyncSequence, Sendable {
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  private let body: ResponseBody
  private let framer: AnyRecordFramer
  private let read: @Sendable (StreamRecord) -> RecordOutcome<Element>
  private let readAll: (@Sendable (ArraySlice<StreamRecord>) -> [Element]?)?

  /// Values of a body's records.
  ///
  /// - Parameter decodeAll: several at once, where that is faster, and only where each record was checked to be one value;
  ///   nil where any can't be decoded: then each is on its own.
  init<Value: Sendable>(
    _ body: ResponseBody, by framer: any ByteFramer<StreamRecord>,
    onInvalid policy: InvalidRecordPolicy<Value, Element>,
    decode: @escaping @Sendable (StreamRecord) throws(RecordFault) -> Value,
    decodeAll: (@Sendable (ArraySlice<StreamRecord>) -> [Value]?)? = nil
  ) {
    let origin = body.origin
    self.body = body
    self.framer = AnyRecordFramer(base: framer)
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
    guard let decodeAll else {
      readAll = nil
      return
    }
    readAll = { (records: ArraySlice<StreamRecord>) -> [Element]? in
      guard let values = decodeAll(records) else { return nil }
      return values.map { policy.accept($0) }
    }
  }

  /// The one iterator.
  public func makeAsyncIterator() -> Iterator {
    Iterator(reader: FrameReader(body, framer), read: read, readAll: readAll)
  }

  /// Hands out the values.
  public struct Iterator: AsyncIteratorProtocol {
    /// So many are decoded at once, and of no more bytes than that: the decoder needs several times as many meanwhile, on
    /// each thread that the reader comes to.
    private static var run: Int { 64 }
    private static var runBytes: Int { 4 << 10 }

    private var reader: FrameReader<AnyRecordFramer>?
    private let read: @Sendable (StreamRecord) -> RecordOutcome<Element>
    private let readAll: (@Sendable (ArraySlice<StreamRecord>) -> [Element]?)?
    private var records: [StreamRecord] = []
    private var position = 0
    /// Up to this record each is on its own.
    private var singleUntil = 0
    private var elements: [Element] = []
    private var nextElement = 0
    private var failure: HTTPError?

    init(
      reader: FrameReader<AnyRecordFramer>,
      read: @escaping @Sendable (StreamRecord) -> RecordOutcome<Element>,
      readAll: (@Sendable (ArraySlice<StreamRecord>) -> [Element]?)?
    ) {
      self.reader = reader
      self.read = read
      self.readAll = readAll
    }

    /// The next value, nil at the end.
    ///
    /// - Throws: `HTTPError.Kind.invalidRecord` for a record that can't be decoded, unless such are skipped or
    ///   yielded; `lineTooLong` for one above the limit; and whatever ended the body.
    public mutating func next() async throws(HTTPError) -> Element? {
      while true {
        if nextElement < elements.count {
          defer { nextElement += 1 }
          return elements[nextElement]
        }
        if let failure { throw failure }
        if position == records.count {
          guard try await refill() else { return nil }
        }
        if decodeRun() { continue }
        let record = records[position]
        position += 1
        switch read(record) {
        case .element(let element): return element
        case .skip: continue
        case .fail(let error):
          failure = error
          // Ends the exchange.
          reader = nil
          throw error
        }
      }
    }

    private mutating func refill() async throws(HTTPError) -> Bool {
      position = 0
      singleUntil = 0
      elements = []
      nextElement = 0
      guard var current = reader else { return false }
      // Out of `self`, so that its framer isn't copied.
      reader = nil
      defer { reader = current }
      return try await current.read(into: &records)
    }

    /// Decodes the next records at once; false where that can't be.
    private mutating func decodeRun() -> Bool {
      guard let readAll, position >= singleUntil, records.count - position > 1 else { return false }
      let end = endOfRun
      guard let run = readAll(records[position..<end]) else {
        singleUntil = end
        return false
      }
      elements = run
      nextElement = 0
      position = end
      return true
    }

    private var endOfRun: Int {
      let most = Swift.min(records.count, position + Self.run)
      var end = position
      var bytes = 0
      while end < most, bytes < Self.runBytes {
        bytes += records[end].bytes.count
        end += 1
      }
      return end
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
