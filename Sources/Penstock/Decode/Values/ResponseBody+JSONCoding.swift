/// Streams of values as an API writes them: names, dates, data.
extension ResponseBody {
  /// The body as newline-delimited JSON of a coding; see `jsonLines(of:decoder:limit:)`.
  ///
  /// ```swift
  /// for try await event in response.body.jsonLines(of: Event.self, coding: .webAPI) { … }
  /// ```
  public func jsonLines<Value: Decodable & Sendable>(
    of type: Value.Type, coding: JSONCoding, limit: ByteCount = .mebibytes(16)
  ) -> ValueStream<Value> { jsonLines(of: type, onInvalid: .throw, coding: coding, limit: limit) }

  /// The same, with a choice of what becomes of lines that can't be decoded.
  public func jsonLines<Value: Decodable & Sendable, Element: Sendable>(
    of type: Value.Type, onInvalid policy: InvalidRecordPolicy<Value, Element>, coding: JSONCoding,
    limit: ByteCount = .mebibytes(16)
  ) -> ValueStream<Element> {
    jsonLines(of: type, onInvalid: policy, by: RecordDecoding(coding), limit: limit)
  }

  /// The body as a JSON text sequence (RFC 7464) of a coding; see `jsonSequence(of:decoder:limit:)`.
  public func jsonSequence<Value: Decodable & Sendable>(
    of type: Value.Type, coding: JSONCoding, limit: ByteCount = .mebibytes(16)
  ) -> ValueStream<Value> { jsonSequence(of: type, onInvalid: .throw, coding: coding, limit: limit) }

  /// The same, with a choice of what becomes of texts that can't be decoded.
  public func jsonSequence<Value: Decodable & Sendable, Element: Sendable>(
    of type: Value.Type, onInvalid policy: InvalidRecordPolicy<Value, Element>, coding: JSONCoding,
    limit: ByteCount = .mebibytes(16)
  ) -> ValueStream<Element> {
    jsonSequence(of: type, onInvalid: policy, by: RecordDecoding(coding), limit: limit)
  }

  /// The elements of one array of a JSON document of any size, of a coding; see
  /// `jsonElements(of:at:decoder:limit:)`.
  public func jsonElements<Value: Decodable & Sendable>(
    of type: Value.Type, at path: JSONArrayPath = .root, coding: JSONCoding,
    limit: ByteCount = .mebibytes(16)
  ) -> ValueStream<Value> {
    jsonElements(of: type, at: path, onInvalid: .throw, coding: coding, limit: limit)
  }

  /// The same, with a choice of what becomes of elements that can't be decoded.
  public func jsonElements<Value: Decodable & Sendable, Element: Sendable>(
    of type: Value.Type, at path: JSONArrayPath = .root,
    onInvalid policy: InvalidRecordPolicy<Value, Element>,
    coding: JSONCoding, limit: ByteCount = .mebibytes(16)
  ) -> ValueStream<Element> {
    jsonElements(of: type, at: path, onInvalid: policy, by: RecordDecoding(coding), limit: limit)
  }

  // MARK: how

  func jsonLines<Value: Decodable & Sendable, Element: Sendable>(
    of type: Value.Type, onInvalid policy: InvalidRecordPolicy<Value, Element>, by decoding: RecordDecoding,
    limit: ByteCount
  ) -> ValueStream<Element> {
    ValueStream(self, by: JSONLineFramer(limit: limit), onInvalid: policy) {
      (record) throws(RecordFault) in try decoding.decode(type, record, name: "line")
    }
  }

  func jsonSequence<Value: Decodable & Sendable, Element: Sendable>(
    of type: Value.Type, onInvalid policy: InvalidRecordPolicy<Value, Element>, by decoding: RecordDecoding,
    limit: ByteCount
  ) -> ValueStream<Element> {
    ValueStream(self, by: JSONSequenceFramer(limit: limit), onInvalid: policy) {
      (record) throws(RecordFault) in
      if JSONSequenceFramer.mayBeCut(record.bytes) {
        throw RecordFault(name: "record", reason: "it has no end, so it may have been cut off")
      }
      return try decoding.decode(type, record, name: "record")
    }
  }

  func jsonElements<Value: Decodable & Sendable, Element: Sendable>(
    of type: Value.Type, at path: JSONArrayPath, onInvalid policy: InvalidRecordPolicy<Value, Element>,
    by decoding: RecordDecoding, limit: ByteCount
  ) -> ValueStream<Element> {
    ValueStream(
      self, by: JSONElementFramer(path: path, limit: limit), onInvalid: policy,
      decode: { (record) throws(RecordFault) in try decoding.decode(type, record, name: "element") },
      decodeAll: { decoding.decodeAll(type, $0) })
  }
}
