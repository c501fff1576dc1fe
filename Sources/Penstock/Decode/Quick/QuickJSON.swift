/// JSON of the plain kind, decoded without Foundation's decoder, which costs as much as half an exchange does for a small
/// answer (decision 43).
enum QuickJSON {
  /// The value, if it is certain that Foundation would give the same; nil says nothing.
  static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8], dates: JSONCoding.Dates
  ) -> Value? {
    guard let tape = JSONTape(bytes) else { return nil }
    let document = JSONDocument(tape, dates: dates)
    guard let value = try? document.value(type, 0), !document.isUnsure else { return nil }
    return value
  }
}
