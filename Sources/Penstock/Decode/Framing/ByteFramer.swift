/// Cuts a stream of bytes into elements: lines, records, events, whatever a format holds.
///
/// Write one for a format of your own and read a body with `ResponseBody.decoded(by:)`. The bytes come in pieces
/// that are cut anywhere; a framer must give the same elements whatever the cuts, and hold no more than the
/// beginning of one element, which it limits.
///
/// ```swift
/// /// Records of two bytes of length and as many bytes.
/// struct Records: ByteFramer {
///   var held: [UInt8] = []
///   mutating func feed(_ bytes: BodyChunk, into elements: inout [[UInt8]]) {
///     held += bytes
///     while held.count >= 2, held.count >= 2 + Int(held[0]) << 8 + Int(held[1]) {
///       let end = 2 + Int(held[0]) << 8 + Int(held[1])
///       elements.append(Array(held[2..<end]))
///       held.removeSubrange(..<end)
///     }
///   }
///   mutating func finish(into elements: inout [[UInt8]]) throws(HTTPError) {
///     if !held.isEmpty { throw HTTPError(.truncated, phase: .decode, message: "the last record is cut off") }
///   }
/// }
/// ```
public protocol ByteFramer<Element>: Sendable {
  /// What it makes of the bytes.
  associatedtype Element: Sendable

  /// Takes the next bytes, at most 32 KiB when they come from a body, and appends what is complete with them.
  ///
  /// Elements that were appended before an error are delivered before it.
  mutating func feed(_ bytes: BodyChunk, into elements: inout [Element]) throws(HTTPError)

  /// The bytes have ended: appends what is complete by that, or throws where the end comes too early.
  mutating func finish(into elements: inout [Element]) throws(HTTPError)
}
