import FoundationEssentials

/// Takes an `Encodable` value apart into a `ValueNode`.
struct ValueTreeEncoder: Encoder {
  let node: ValueNode
  let codingPath: [any CodingKey]
  let encoding: QueryEncoding
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Encodes a value into a node, with the types that have a form of their own.
  static func put(
    _ value: some Encodable, into node: ValueNode, at path: [any CodingKey], encoding: QueryEncoding
  ) throws {
    switch value {
    case let value as Date:
      node.content = .text(encoding.dates.text(value), isLiteral: encoding.dates.isNumber)
    case let value as Data:
      node.content = .text(encoding.text(value), isLiteral: false)
      node.bytes = Array(value)
    case let value as Decimal:
      guard !value.isNaN else { throw notFinite(value, path) }
      node.content = .text(value.description, isLiteral: true)
    case let value as URL: node.content = .text(value.absoluteString, isLiteral: false)
    case let value as String: node.content = .text(value, isLiteral: false)
    default:
      try value.encode(to: ValueTreeEncoder(node: node, codingPath: path, encoding: encoding))
      // The order of a dictionary changes from run to run.
      if case .object = node.content, Mirror(reflecting: value).displayStyle == .dictionary {
        node.sortMembers()
      }
    }
  }

  static func notFinite(_ value: any Sendable, _ path: [any CodingKey]) -> EncodingError {
    .invalidValue(value, .init(codingPath: path, debugDescription: "the number isn't finite"))
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .object = node.content {} else { node.content = .object([]) }
    return KeyedEncodingContainer(
      ValueKeyedContainer<Key>(node: node, codingPath: codingPath, encoding: encoding))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .list = node.content {} else { node.content = .list([]) }
    return ValueListContainer(node: node, codingPath: codingPath, encoding: encoding)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    ValueSingleContainer(node: node, codingPath: codingPath, encoding: encoding)
  }
}

private struct ValueKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: ValueNode
  let codingPath: [any CodingKey]
  let encoding: QueryEncoding

  private func child(_ key: any CodingKey) -> ValueNode { node.append(encoding.keys.text(key.stringValue)) }

  mutating func encodeNil(forKey key: Key) { child(key).content = .null }

  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try ValueTreeEncoder.put(value, into: child(key), at: codingPath + [key], encoding: encoding)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy keyType: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    ValueTreeEncoder(node: child(key), codingPath: codingPath + [key], encoding: encoding)
      .container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    ValueTreeEncoder(node: child(key), codingPath: codingPath + [key], encoding: encoding).unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder {
    ValueTreeEncoder(node: node.append("super"), codingPath: codingPath, encoding: encoding)
  }

  mutating func superEncoder(forKey key: Key) -> any Encoder {
    ValueTreeEncoder(node: child(key), codingPath: codingPath + [key], encoding: encoding)
  }
}

private struct ValueListContainer: UnkeyedEncodingContainer {
  let node: ValueNode
  let codingPath: [any CodingKey]
  let encoding: QueryEncoding

  private struct Index: CodingKey {
    let intValue: Int?
    var stringValue: String { "\(intValue ?? 0)" }
    init(_ index: Int) { intValue = index }
    init?(intValue: Int) { self.intValue = intValue }
    init?(stringValue: String) { nil }
  }

  var count: Int {
    if case .list(let children) = node.content { return children.count }
    return 0
  }

  private var path: [any CodingKey] { codingPath + [Index(count)] }

  mutating func encodeNil() { node.append().content = .null }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    let path = path
    try ValueTreeEncoder.put(value, into: node.append(), at: path, encoding: encoding)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy keyType: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    let path = path
    return ValueTreeEncoder(node: node.append(), codingPath: path, encoding: encoding)
      .container(keyedBy: keyType)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    let path = path
    return ValueTreeEncoder(node: node.append(), codingPath: path, encoding: encoding).unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder {
    let path = path
    return ValueTreeEncoder(node: node.append(), codingPath: path, encoding: encoding)
  }
}

private struct ValueSingleContainer: SingleValueEncodingContainer {
  let node: ValueNode
  let codingPath: [any CodingKey]
  let encoding: QueryEncoding

  private func put(number: some CustomStringConvertible) {
    node.content = .text(number.description, isLiteral: true)
  }

  private func put<Number: BinaryFloatingPoint & CustomStringConvertible & Sendable>(float: Number) throws {
    guard float.isFinite else { throw ValueTreeEncoder.notFinite(float, codingPath) }
    // As JSON writes it: 1.0 is 1.
    let text = float.description
    node.content = .text(text.hasSuffix(".0") ? String(text.dropLast(2)) : text, isLiteral: true)
  }

  mutating func encodeNil() { node.content = .null }
  mutating func encode(_ value: Bool) { node.content = .text(encoding.text(value), isLiteral: true) }
  mutating func encode(_ value: String) { node.content = .text(value, isLiteral: false) }
  mutating func encode(_ value: Double) throws { try put(float: value) }
  mutating func encode(_ value: Float) throws { try put(float: value) }
  mutating func encode(_ value: Int) { put(number: value) }
  mutating func encode(_ value: Int8) { put(number: value) }
  mutating func encode(_ value: Int16) { put(number: value) }
  mutating func encode(_ value: Int32) { put(number: value) }
  mutating func encode(_ value: Int64) { put(number: value) }
  mutating func encode(_ value: UInt) { put(number: value) }
  mutating func encode(_ value: UInt8) { put(number: value) }
  mutating func encode(_ value: UInt16) { put(number: value) }
  mutating func encode(_ value: UInt32) { put(number: value) }
  mutating func encode(_ value: UInt64) { put(number: value) }
  mutating func encode<Value: Encodable>(_ value: Value) throws {
    try ValueTreeEncoder.put(value, into: node, at: codingPath, encoding: encoding)
  }
}
