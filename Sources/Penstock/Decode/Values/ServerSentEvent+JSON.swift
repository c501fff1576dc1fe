extension ServerSentEvent {
  /// The value in the event's data, which is JSON of a coding.
  ///
  /// ```swift
  /// for try await event in response.body.serverSentEvents {
  ///   if event.data == "[DONE]" { break }
  ///   let delta = try event.value(as: Delta.self, coding: .snakeCase)
  /// }
  /// ```
  ///
  /// - Throws: `HTTPError.Kind.invalidRecord`, naming type and ID of the event and the way to what is wrong.
  public func value<Value: Decodable>(
    as type: Value.Type = Value.self, coding: JSONCoding = .standard
  ) throws(HTTPError) -> Value {
    do throws(RecordFault) {
      return try RecordDecoding(coding).decode(type, StreamRecord(bytes: bytes, number: 1), name: "data")
    } catch {
      let name = "the event of type \"\(self.type)\"" + (id.isEmpty ? "" : " and ID \"\(id)\"")
      throw HTTPError(
        .invalidRecord, phase: .decode, message: "the data of \(name) can't be read: \(error.reason)")
    }
  }
}
