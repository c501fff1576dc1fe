/// A body as rows of CSV or as values of them, with a choice of what becomes of those that can't be read.
///
/// Leaving the loop ends the exchange. A body can be read once.
public struct CSVValues<Element: Sendable>: AsyncSequence, Sendable {
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  private let body: ResponseBody
  private let framer: CSVRecordFramer
  private let read: @Sendable (CSVRecord) -> RecordOutcome<Element>

  init<Value: Sendable>(
    _ body: ResponseBody, by framer: CSVRecordFramer, onInvalid policy: InvalidRecordPolicy<Value, Element>,
    decode: @escaping @Sendable (CSVRow) throws(HTTPError) -> Value
  ) {
    let origin = body.origin
    self.body = body
    self.framer = framer
    read = { record in
      do throws(HTTPError) {
        return .element(policy.accept(try decode(try record.row.get())))
      } catch {
        let error = origin?.naming(error) ?? error
        return policy.reject(InvalidRecord(number: record.number, bytes: record.bytes, error: error))
      }
    }
  }

  /// The one iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: FrameReader(body, framer), read: read) }

  /// Hands out the rows or values.
  public struct Iterator: AsyncIteratorProtocol {
    private var reader: FrameReader<CSVRecordFramer>?
    private let read: @Sendable (CSVRecord) -> RecordOutcome<Element>
    private var records: [CSVRecord] = []
    private var position = 0
    private var failure: HTTPError?

    init(
      reader: FrameReader<CSVRecordFramer>, read: @escaping @Sendable (CSVRecord) -> RecordOutcome<Element>
    ) {
      self.reader = reader
      self.read = read
    }

    /// The next row or value, nil at the end.
    ///
    /// - Throws: `HTTPError.Kind.invalidRecord` for a row that can't be read, unless such are skipped or yielded;
    ///   `lineTooLong` for one above the limit, `truncated` for a quoted field without an end, and whatever ended the
    ///   body.
    public mutating func next() async throws(HTTPError) -> Element? {
      while true {
        if let failure { throw failure }
        if position == records.count {
          position = 0
          guard var current = reader else { return nil }
          // Out of `self`, so that its framer isn't copied.
          reader = nil
          defer { reader = current }
          guard try await current.read(into: &records) else { return nil }
        }
        position += 1
        switch read(records[position - 1]) {
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

    /// The next row or value, nil at the end, without leaving the caller's actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(HTTPError) -> Element? {
      try await next()
    }
  }
}

extension ResponseBody {
  /// The body as rows of CSV (RFC 4180); see `CSVFramer` for the parameters and what is an error.
  ///
  /// ```swift
  /// for try await row in response.body.csvRows(hasHeader: true) { print(row["name"] ?? "", row[2]) }
  /// ```
  public func csvRows(
    separator: Unicode.Scalar = ",", hasHeader: Bool = false, limit: ByteCount = .mebibytes(1)
  ) -> FramedBody<CSVFramer> {
    decoded(by: CSVFramer(separator: separator, hasHeader: hasHeader, limit: limit))
  }

  /// The same, with a choice of what becomes of rows that can't be read: of a wrong number of fields, or with quotation
  /// marks that belong nowhere. A header row that can't be read, and a quoted field without an end, are errors in any
  /// case.
  ///
  /// - Parameter limit: the largest row as it came, quotation marks and separators counted.
  public func csvRows<Element: Sendable>(
    separator: Unicode.Scalar = ",", hasHeader: Bool = false,
    onInvalid policy: InvalidRecordPolicy<CSVRow, Element>, limit: ByteCount = .mebibytes(1)
  ) -> CSVValues<Element> {
    let framer = CSVRecordFramer(separator: separator, hasHeader: hasHeader, limit: limit)
    return CSVValues(self, by: framer, onInvalid: policy) { (row) throws(HTTPError) in row }
  }

  /// The rows of a CSV file with a header row as values, whose properties are the columns.
  ///
  /// ```swift
  /// struct Person: Decodable { var name: String, age: Int? }
  /// for try await person in response.body.csvRows(of: Person.self) { print(person.name) }
  /// ```
  ///
  /// An empty field is nil where the property is optional, else an empty string or an error. `Bool`s are `true`,
  /// `false`, `1` and `0`.
  ///
  /// - Parameters:
  ///   - keys: how the columns are called: `.snakeCase` finds `createdAt` under `created_at`.
  ///   - dates: how dates are written.
  /// - Returns: the values; a row that isn't one throws `HTTPError.Kind.invalidRecord`, which names row and column.
  public func csvRows<Value: Decodable & Sendable>(
    of type: Value.Type, separator: Unicode.Scalar = ",", keys: KeyForm = .asWritten,
    dates: DateForm = .iso8601, limit: ByteCount = .mebibytes(1)
  ) -> CSVValues<Value> {
    csvRows(of: type, separator: separator, keys: keys, dates: dates, onInvalid: .throw, limit: limit)
  }

  /// The same, with a choice of what becomes of rows that can't be read or aren't such a value.
  public func csvRows<Value: Decodable & Sendable, Element: Sendable>(
    of type: Value.Type, separator: Unicode.Scalar = ",", keys: KeyForm = .asWritten,
    dates: DateForm = .iso8601, onInvalid policy: InvalidRecordPolicy<Value, Element>,
    limit: ByteCount = .mebibytes(1)
  ) -> CSVValues<Element> {
    let framer = CSVRecordFramer(separator: separator, hasHeader: true, limit: limit)
    return CSVValues(self, by: framer, onInvalid: policy) { (row) throws(HTTPError) in
      try CSVRowDecoder(row: row, keys: keys, dates: dates).value(of: type)
    }
  }
}
