/// The mark that some programs put before a text in UTF-8.
package enum ByteOrderMark {
  package static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The bytes without a mark before them.
  package static func cut(_ chunk: BodyChunk) -> BodyChunk {
    chunk.starts(with: bytes) ? chunk[(chunk.startIndex + 3)..<chunk.endIndex] : chunk
  }
}
