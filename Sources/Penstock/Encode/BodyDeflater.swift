import CZlib

/// zlib's deflate with a gzip frame, its memory owned.
final class BodyDeflater {
  private let stream: ZlibStream
  private static let gzipWindow: Int32 = 31

  /// Nil when there is no memory.
  init?(level: Int32 = Z_DEFAULT_COMPRESSION) {
    let stream = ZlibStream(
      begin: { cshims_deflate_init2($0, level, Self.gzipWindow) }, end: { _ = deflateEnd($0) })
    guard let stream else { return nil }
    self.stream = stream
  }

  /// Codes some input; `isLast` writes the end. `isDone`: all of the input is taken and, at the end, all written.
  func deflate(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool
  ) -> (consumed: Int, produced: Int, isDone: Bool) {
    let step = stream.step(input, into: output) { CZlib.deflate($0, isLast ? Z_FINISH : Z_NO_FLUSH) }
    let isTaken = step.consumed == min(input.count, Int(UInt32.max))
    return (
      step.consumed, step.produced, isLast ? step.code == Z_STREAM_END : isTaken && step.hasRoom
    )
  }
}
