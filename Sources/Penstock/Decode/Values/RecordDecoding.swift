#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes single JSON values of a stream: as Foundation does, and where no decoder of the caller's own is given without
/// its cost.
struct RecordDecoding: Sendable {
  private let decoder: JSONDecoder
  private let isQuick: Bool

  init(_ given: JSONDecoder?) {
    decoder = given ?? JSONDecoder()
    isQuick = given == nil
  }

  func decode<Value: Decodable>(
    _ type: Value.Type, _ record: StreamRecord, name: String
  ) throws(RecordFault) -> Value {
    if isQuick, let value = QuickJSON.decode(type, from: Array(record.bytes), dates: .foundation) {
      return value
    }
    do {
      return try record.bytes.withUnsafeBytes { bytes in
        // The decoder copies what it keeps: the bytes are lent for the call.
        let data =
          bytes.baseAddress.map {
            Data(
              bytesNoCopy: UnsafeMutableRawPointer(mutating: $0), count: bytes.count, deallocator: .none)
          } ?? Data()
        return try decoder.decode(type, from: data)
      }
    } catch {
      throw RecordFault(name: name, reason: Self.reason(error))
    }
  }

  /// Decodes several records, each of which is known to be JSON, at once; it gives nil when any of them is of another
  /// form. Nil where they are decoded as fast one by one.
  func decodingAll<Value: Decodable & Sendable>(
    _ type: Value.Type
  ) -> (@Sendable (ArraySlice<StreamRecord>) -> [Value]?)? {
    if isQuick { return nil }
    return { [decoder] records in
      var document = Data(capacity: records.reduce(2) { $0 + $1.bytes.count + 1 })
      for record in records {
        document.append(document.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
        record.bytes.withUnsafeBytes { bytes in document.append(contentsOf: bytes) }
      }
      document.append(UInt8(ascii: "]"))
      guard let values = try? decoder.decode([Value].self, from: document), values.count == records.count
      else { return nil }
      return values
    }
  }

  /// The error in a sentence, with the way to the value that is wrong.
  private static func reason(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      return text(context, context.codingPath)
    case .keyNotFound(let key, let context):
      return "there is no value for \"\(path(context.codingPath + [key]))\""
    case .dataCorrupted(let context): return text(context, context.codingPath)
    @unknown default: return "\(error)"
    }
  }

  private static func text(_ context: DecodingError.Context, _ keys: [any CodingKey]) -> String {
    var reason = context.debugDescription
    if reason.hasSuffix(".") { reason.removeLast() }
    if let first = reason.first { reason = first.lowercased() + reason.dropFirst() }
    return keys.isEmpty ? reason : "\(reason), at \"\(path(keys))\""
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }
}
