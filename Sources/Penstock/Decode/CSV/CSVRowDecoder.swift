import FoundationEssentials

/// Makes a value of one row: its properties are the columns of the header row.
struct CSVRowDecoder: Decoder {
  let row: CSVRow
  let keys: KeyForm
  let dates: DateForm
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func value<Value: Decodable>(of type: Value.Type) throws(HTTPError) -> Value {
    do {
      return try Value(from: self)
    } catch {
      let failure = DecodingFailureText.failure(error, body: [])
      let place = failure.codingPath.isEmpty ? "" : " at \"\(failure.codingPath)\""
      throw HTTPError(
        .invalidRecord, phase: .decode,
        message: "row \(row.number) of the CSV, in line \(row.line), is no \(type)\(place): \(failure.reason)"
      )
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(CSVColumns<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { CSVFields(decoder: self) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw DecodingError.dataCorrupted(
      .init(codingPath: [], debugDescription: "a row has several values; ask for a type with properties"))
  }

  func field(_ place: Int, _ path: [any CodingKey]) -> CSVField {
    CSVField(text: row[place], codingPath: path, dates: dates)
  }
}

private struct CSVColumns<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: CSVRowDecoder
  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { decoder.row.names.compactMap { Key(stringValue: $0) } }

  private func place(_ key: Key) -> Int? {
    decoder.row.place(of: decoder.keys.text(key.stringValue)) ?? decoder.row.place(of: key.stringValue)
  }

  private func field(_ key: Key) throws -> CSVField {
    guard let place = place(key) else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: [], debugDescription: "there is no such column"))
    }
    return decoder.field(place, [key])
  }

  func contains(_ key: Key) -> Bool { place(key) != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try field(key).decodeNil() }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try field(key).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try field(key).container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try field(key).unkeyedContainer()
  }
  func superDecoder() throws -> any Decoder { decoder }
  func superDecoder(forKey key: Key) throws -> any Decoder { try field(key) }
}

/// All fields of a row in their order, for arrays.
private struct CSVFields: UnkeyedDecodingContainer {
  let decoder: CSVRowDecoder
  var codingPath: [any CodingKey] { [] }
  var currentIndex = 0
  var count: Int? { decoder.row.count }
  var isAtEnd: Bool { currentIndex >= decoder.row.count }

  init(decoder: CSVRowDecoder) { self.decoder = decoder }

  private func field() throws -> CSVField {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Any.self, .init(codingPath: [], debugDescription: "the row has no more fields"))
    }
    return decoder.field(currentIndex, [])
  }

  mutating func decodeNil() throws -> Bool {
    guard try field().decodeNil() else { return false }
    currentIndex += 1
    return true
  }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try field().decode(type)
    currentIndex += 1
    return value
  }
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { try field().container(keyedBy: type) }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try field().unkeyedContainer()
  }
  mutating func superDecoder() throws -> any Decoder { try field() }
}

/// One field.
struct CSVField: Decoder, SingleValueDecodingContainer {
  let text: String
  let codingPath: [any CodingKey]
  let dates: DateForm
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private func wrong(_ type: Any.Type) -> DecodingError {
    .typeMismatch(type, .init(codingPath: codingPath, debugDescription: "a field of text"))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw wrong([String: String].self)
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw wrong([String].self) }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  private func read<Value: LosslessStringConvertible>(_ type: Value.Type) throws -> Value {
    guard let value = Value(text) else { throw wrong(type) }
    return value
  }

  func decodeNil() -> Bool { text.isEmpty }
  func decode(_ type: String.Type) throws -> String { text }
  func decode(_ type: Bool.Type) throws -> Bool {
    switch text {
    case "true", "1": true
    case "false", "0": false
    default: throw wrong(type)
    }
  }
  func decode(_ type: Double.Type) throws -> Double { try read(type) }
  func decode(_ type: Float.Type) throws -> Float { try read(type) }
  func decode(_ type: Int.Type) throws -> Int { try read(type) }
  func decode(_ type: Int8.Type) throws -> Int8 { try read(type) }
  func decode(_ type: Int16.Type) throws -> Int16 { try read(type) }
  func decode(_ type: Int32.Type) throws -> Int32 { try read(type) }
  func decode(_ type: Int64.Type) throws -> Int64 { try read(type) }
  func decode(_ type: UInt.Type) throws -> UInt { try read(type) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try read(type) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try read(type) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try read(type) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try read(type) }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let special: Any? =
      switch type {
      case is Date.Type: dates.date(text)
      case is Decimal.Type: Decimal(string: text)
      case is URL.Type: URL(string: text)
      default: Optional<Any>.none
      }
    if type == Date.self || type == Decimal.self || type == URL.self {
      guard let value = special as? Value else { throw wrong(type) }
      return value
    }
    return try Value(from: self)
  }
}
