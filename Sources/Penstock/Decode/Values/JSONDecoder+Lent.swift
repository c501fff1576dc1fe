#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension JSONDecoder {
  /// A value in bytes that are lent for the call: the decoder copies what it keeps.
  func decode<Value: Decodable>(_ type: Value.Type, lent bytes: UnsafeRawBufferPointer) throws -> Value {
    guard let start = bytes.baseAddress else { return try decode(type, from: Data()) }
    let data = Data(
      bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count, deallocator: .none)
    return try decode(type, from: data)
  }
}
