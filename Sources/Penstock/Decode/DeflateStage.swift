/// deflate: the zlib format (RFC 1950) that the name stands for, and the bare data (RFC 1951) that some
/// servers send under it; the first two bytes tell.
final class DeflateStage: DecodingStage {
  private enum State {
    case empty
    /// One byte came, which doesn't tell the format yet.
    case first(UInt8)
    case data
    case ended
  }

  private let stream: InflateStream
  private var state = State.empty

  init() throws(HTTPError) {
    guard let stream = InflateStream(.zlib) else { throw .decoderUnavailable(.deflate) }
    self.stream = stream
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(HTTPError) -> StageProgress {
    switch state {
    case .empty:
      guard let byte = input.first else { return StageProgress() }
      state = .first(byte)
      return StageProgress(consumed: 1)
    case .first(let first):
      guard let second = input.first else { return StageProgress() }
      if !Self.isZlibHeader(first, second), !stream.reset(.raw) { throw .decoderUnavailable(.deflate) }
      state = .data
      // One byte is too short for any output, so the output isn't moved on.
      _ = try withUnsafeBytes(of: first) { byte throws(HTTPError) in try inflate(byte, into: output) }
      return try inflate(input, into: output)
    case .data: return try inflate(input, into: output)
    case .ended:
      if !input.isEmpty { throw .trailingGarbage(.deflate) }
      return StageProgress()
    }
  }

  private func inflate(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(HTTPError) -> StageProgress {
    switch stream.inflate(input, into: output) {
    case .ran(let progress): return progress
    case .ended(let progress):
      state = .ended
      return progress
    case .damaged(let detail): throw .damaged(.deflate, detail)
    case .outOfMemory: throw .decoderUnavailable(.deflate)
    }
  }

  /// Method 8, a window of up to 32 KiB, and the check that makes the two bytes a multiple of 31. Bare data
  /// that begins so would be a stored block with set padding bits, which nobody writes.
  private static func isZlibHeader(_ first: UInt8, _ second: UInt8) -> Bool {
    first & 0x0F == 8 && first >> 4 <= 7 && (Int(first) << 8 | Int(second)).isMultiple(of: 31)
  }

  func finish() throws(HTTPError) {
    switch state {
    case .empty, .ended: return
    case .first, .data: throw .cutOff(.deflate)
    }
  }
}
