/// A value inside of another, found by the names of members and the numbers of elements on the way.
struct NestedValue<Value: Decodable & Sendable>: Decodable, Sendable {
  let value: Value

  init(from decoder: any Decoder) throws {
    let path = NestedPath.steps
    // At the top there is no container yet that knows how to go on.
    value = try Self.value(at: path[...], in: decoder)
  }

  private static func value(at path: ArraySlice<NestedPath.Step>, in decoder: any Decoder) throws -> Value {
    guard let step = path.first else { return try Value(from: decoder) }
    if let index = step.intValue {
      var container = try decoder.unkeyedContainer()
      for _ in 0..<index where !container.isAtEnd { _ = try container.decode(Passed.self) }
      if path.count == 1 { return try container.decode(Value.self) }
      return try value(at: path.dropFirst(), in: try container.superDecoder())
    }
    let container = try decoder.container(keyedBy: NestedPath.Step.self)
    if path.count == 1 { return try container.decode(Value.self, forKey: step) }
    return try value(at: path.dropFirst(), in: try container.superDecoder(forKey: step))
  }

  /// An element that isn't wanted.
  private struct Passed: Decodable {
    init(from decoder: any Decoder) {}
  }
}

/// The way to a nested value, for the time of one decoding.
enum NestedPath {
  struct Step: CodingKey, Sendable {
    let stringValue: String
    let intValue: Int?

    init(_ text: Substring) {
      stringValue = String(text)
      intValue = Int(text).flatMap { $0 >= 0 ? $0 : nil }
    }
    init?(stringValue: String) {
      self.stringValue = stringValue
      intValue = nil
    }
    init?(intValue: Int) {
      stringValue = String(intValue)
      self.intValue = intValue
    }
  }

  @TaskLocal static var steps: [Step] = []
}

extension RawResponse {
  /// The value at a place in the body: `"data.items"`, `"data.items.0.name"`; names as the decoder's key form makes them.
  ///
  /// - Throws: `HTTPError.Kind.decodingFailed`, also when there is no such place.
  public func decode<Value: Decodable & Sendable>(
    _ type: Value.Type = Value.self, at path: String, by decoder: any BodyDecoder = JSONCoding.standard
  ) throws(HTTPError) -> Value {
    let steps = path.split(separator: ".").map { NestedPath.Step($0) }
    let result: Result<Value, HTTPError> = NestedPath.$steps.withValue(steps) {
      do throws(HTTPError) {
        return .success(try decode(NestedValue<Value>.self, by: decoder).value)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

extension Call {
  /// Makes the call and gives the value at a place in the answer: `"data.items"`.
  ///
  /// - Throws: as `value(as:)`; `HTTPError.Kind.decodingFailed` also when there is no such place.
  public func value<Value: Decodable & Sendable>(
    as type: Value.Type = Value.self, at path: String
  ) async throws(HTTPError) -> Value {
    let run = CallRun(self)
    return try await run.told { () async throws(HTTPError) in
      try await run.validatedOrFail(decodes: true).decode(type, at: path, by: run.decoder)
    }
  }
}
