#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes single JSON values of a stream, by a decoder of the caller's or that of a coding.
struct RecordDecoding: Sendable {
  private let decoder: JSONDecoder

  init(_ decoder: JSONDecoder) { self.decoder = decoder }

  init(_ coding: JSONCoding) { decoder = coding.decoder }

  func decode<Value: Decodable>(
    _ type: Value.Type, _ record: StreamRecord, name: String
  ) throws(RecordFault) -> Value {
    do {
      return try record.bytes.withUnsafeBytes { try decoder.decode(type, lent: $0) }
    } catch {
      throw RecordFault(name: name, reason: Self.reason(error))
    }
  }

  /// The values of several records, each of which is known to be JSON, at once; nil when any of them is of another
  /// form.
  func decodeAll<Value: Decodable>(_ type: Value.Type, _ records: ArraySlice<StreamRecord>) -> [Value]? {
    var document: [UInt8] = []
    document.reserveCapacity(records.reduce(2) { $0 + $1.bytes.count + 1 })
    for record in records {
      document.append(document.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
      record.bytes.append(to: &document)
    }
    document.append(UInt8(ascii: "]"))
    let values = try? document.withUnsafeBytes { try decoder.decode([Value].self, lent: $0) }
    return values?.count == records.count ? values : nil
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
