#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Single JSON values of a stream through Foundation's decoder.
enum RecordDecoding {
  static func decode<Value: Decodable>(
    _ type: Value.Type, _ record: StreamRecord, _ decoder: JSONDecoder, name: String
  ) throws(RecordFault) -> Value {
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
      throw RecordFault(name: name, reason: reason(error))
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
