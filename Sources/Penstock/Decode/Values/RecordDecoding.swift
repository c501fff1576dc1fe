#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes single JSON values of a stream, by a decoder of the caller's or a coding.
struct RecordDecoding: Sendable {
  private enum Way {
    case decoder(JSONDecoder)
    case coding(JSONCoding)
  }

  private let way: Way

  init(_ decoder: JSONDecoder?) { way = decoder.map(Way.decoder) ?? .coding(.standard) }

  init(_ coding: JSONCoding) { way = .coding(coding) }

  func decode<Value: Decodable>(
    _ type: Value.Type, _ record: StreamRecord, name: String
  ) throws(RecordFault) -> Value {
    do {
      switch way {
      case .coding(let coding): return try coding.decode(type, from: Array(record.bytes), headers: [:])
      case .decoder(let decoder):
        return try record.bytes.withUnsafeBytes { bytes in
          // The decoder copies what it keeps: the bytes are lent for the call.
          let data =
            bytes.baseAddress.map {
              Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: $0), count: bytes.count, deallocator: .none)
            } ?? Data()
          return try decoder.decode(type, from: data)
        }
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
    if case .coding(let coding) = way, coding.isQuick { return nil }
    return { [way] records in
      var document: [UInt8] = []
      document.reserveCapacity(records.reduce(2) { $0 + $1.bytes.count + 1 })
      for record in records {
        document.append(document.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
        record.bytes.append(to: &document)
      }
      document.append(UInt8(ascii: "]"))
      let values: [Value]? =
        switch way {
        case .coding(let coding): try? coding.decode([Value].self, from: document, headers: [:])
        case .decoder(let decoder): try? decoder.decode([Value].self, from: Data(document))
        }
      return values?.count == records.count ? values : nil
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
