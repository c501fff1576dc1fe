/// The members of one object.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let document: JSONDocument
  let object: Int

  var codingPath: [any CodingKey] { document.path(to: object) }
  var allKeys: [Key] { document.names(in: object).compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { document.value(named: key.stringValue, in: object) != nil }

  private func place(_ key: Key) throws -> Int {
    if let place = document.value(named: key.stringValue, in: object) { return place }
    throw DecodingError.keyNotFound(
      key,
      DecodingError.Context(
        codingPath: codingPath, debugDescription: "there is no member \"\(key.stringValue)\""))
  }

  /// Nil for a member that isn't there or is null.
  private func present(_ key: Key) -> Int? {
    guard let place = document.value(named: key.stringValue, in: object), !document.isNull(place) else {
      return nil
    }
    return place
  }

  func decodeNil(forKey key: Key) throws -> Bool { document.isNull(try place(key)) }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try document.bool(place(key)) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try document.string(place(key)) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try document.double(place(key)) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try document.float(place(key)) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try document.integer(place(key)) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try document.integer(place(key)) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try document.integer(place(key)) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try document.integer(place(key)) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try document.integer(place(key)) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try document.integer(place(key)) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try document.integer(place(key)) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try document.integer(place(key)) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try document.integer(place(key)) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try document.integer(place(key)) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try document.integer(place(key)) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try document.integer(place(key)) }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try document.value(type, place(key))
  }

  // One look for the name instead of three.
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try present(key).map(document.bool)
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(key).map(document.string)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try present(key).map(document.double)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try present(key).map(document.integer)
  }
  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try present(key).map { try document.value(type, $0) }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  func superDecoder() throws -> any Decoder {
    guard let place = document.value(named: "super", in: object) else {
      // Foundation makes a null of it.
      throw document.corrupted("there is no member \"super\"", object)
    }
    return JSONValueDecoder(document: document, place: place)
  }

  private func decoder(_ key: Key) throws -> JSONValueDecoder {
    JSONValueDecoder(document: document, place: try place(key))
  }
}
