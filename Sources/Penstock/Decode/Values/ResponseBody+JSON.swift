#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension ResponseBody {
  /// The body as newline-delimited JSON: one value a line, blank lines left out.
  ///
  /// ```swift
  /// for try await row in response.body.jsonLines(of: Row.self) { … }
  /// ```
  ///
  /// - Parameters:
  ///   - decoder: how each value is decoded. Don't change it while the stream is read.
  ///   - limit: the largest line; a longer one throws `HTTPError.Kind.lineTooLong`.
  /// - Returns: the values; a line that can't be decoded throws `HTTPError.Kind.invalidRecord`, which names the
  ///   line.
  public func jsonLines<Value: Decodable & Sendable>(
    of type: Value.Type, decoder: JSONDecoder = JSONDecoder(), limit: ByteCount = .mebibytes(16)
  ) -> ValueStream<Value> { jsonLines(of: type, onInvalid: .throw, decoder: decoder, limit: limit) }

  /// The same, with a choice of what becomes of lines that can't be decoded.
  ///
  /// ```swift
  /// for try await row in response.body.jsonLines(of: Row.self, onInvalid: .yield) {
  ///   switch row { case .success(let row): … case .failure(let invalid): print(invalid.number) }
  /// }
  /// ```
  public func jsonLines<Value: Decodable & Sendable, Element: Sendable>(
    of type: Value.Type, onInvalid policy: InvalidRecordPolicy<Value, Element>,
    decoder: JSONDecoder = JSONDecoder(), limit: ByteCount = .mebibytes(16)
  ) -> ValueStream<Element> {
    jsonLines(of: type, onInvalid: policy, by: RecordDecoding(decoder), limit: limit)
  }

  /// The body as newline-delimited JSON, each value checked and made compact but not decoded: numbers and strings
  /// stay as they came. A bad line throws `HTTPError.Kind.invalidRecord`.
  public func compactJSONLines(limit: ByteCount = .mebibytes(16)) -> FramedBody<CompactJSONLineFramer> {
    decoded(by: CompactJSONLineFramer(limit: limit))
  }

  /// The body as a JSON text sequence (RFC 7464, `application/json-seq`). A text that may have been cut off, such
  /// as digits without an end, is invalid; see `jsonLines(of:onInvalid:decoder:limit:)` for the parameters.
  public func jsonSequence<Value: Decodable & Sendable>(
    of type: Value.Type, decoder: JSONDecoder = JSONDecoder(), limit: ByteCount = .mebibytes(16)
  ) -> ValueStream<Value> { jsonSequence(of: type, onInvalid: .throw, decoder: decoder, limit: limit) }

  /// The same, with a choice of what becomes of texts that can't be decoded.
  public func jsonSequence<Value: Decodable & Sendable, Element: Sendable>(
    of type: Value.Type, onInvalid policy: InvalidRecordPolicy<Value, Element>,
    decoder: JSONDecoder = JSONDecoder(), limit: ByteCount = .mebibytes(16)
  ) -> ValueStream<Element> {
    jsonSequence(of: type, onInvalid: policy, by: RecordDecoding(decoder), limit: limit)
  }

  /// The elements of one array of a JSON document of any size, as they arrive; the document is never held.
  ///
  /// ```swift
  /// for try await user in response.body.jsonElements(of: User.self, at: "data.items") { … }
  /// ```
  ///
  /// - Parameters:
  ///   - path: where the array is; the outermost value by default.
  ///   - decoder: how each element is decoded. Don't change it while the stream is read.
  ///   - limit: the largest element; a larger one throws `HTTPError.Kind.lineTooLong`.
  /// - Returns: the elements. The document is checked to its end: `HTTPError.Kind.invalidRecord` says that it
  ///   isn't JSON, that there is no such array or that an element can't be decoded, `truncated` that it ends
  ///   too early.
  public func jsonElements<Value: Decodable & Sendable>(
    of type: Value.Type, at path: JSONArrayPath = .root, decoder: JSONDecoder = JSONDecoder(),
    limit: ByteCount = .mebibytes(16)
  ) -> ValueStream<Value> {
    jsonElements(of: type, at: path, onInvalid: .throw, decoder: decoder, limit: limit)
  }

  /// The same, with a choice of what becomes of elements that can't be decoded. A document that isn't JSON throws
  /// in any case.
  public func jsonElements<Value: Decodable & Sendable, Element: Sendable>(
    of type: Value.Type, at path: JSONArrayPath = .root,
    onInvalid policy: InvalidRecordPolicy<Value, Element>,
    decoder: JSONDecoder = JSONDecoder(), limit: ByteCount = .mebibytes(16)
  ) -> ValueStream<Element> {
    jsonElements(of: type, at: path, onInvalid: policy, by: RecordDecoding(decoder), limit: limit)
  }

  /// The records of a framer of your own, each decoded from JSON.
  public func decoded<Value: Decodable & Sendable, Element: Sendable>(
    as type: Value.Type, by framer: some ByteFramer<BodyChunk>,
    onInvalid policy: InvalidRecordPolicy<Value, Element>, decoder: JSONDecoder = JSONDecoder()
  ) -> ValueStream<Element> {
    let decoding = RecordDecoding(decoder)
    return ValueStream(self, by: NumberingFramer(framer), onInvalid: policy) { (record) throws(RecordFault) in
      try decoding.decode(type, record, name: "record")
    }
  }

  /// The records of a framer of your own, each decoded from JSON; a bad one throws
  /// `HTTPError.Kind.invalidRecord`.
  public func decoded<Value: Decodable & Sendable>(
    as type: Value.Type, by framer: some ByteFramer<BodyChunk>, decoder: JSONDecoder = JSONDecoder()
  ) -> ValueStream<Value> { decoded(as: type, by: framer, onInvalid: .throw, decoder: decoder) }
}
