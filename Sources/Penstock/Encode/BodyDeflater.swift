import CZlib

/// zlib's deflate with the frame of a coding, its memory owned.
final class BodyDeflater {
  private let stream: ZlibStream

  /// Nil when there is no memory.
  init?(_ coding: BodyCoding = .gzip, level: Int32 = Z_DEFAULT_COMPRESSION) {
    let stream = ZlibStream(
      begin: { cshims_deflate_init2($0, level, coding.window) }, end: { _ = deflateEnd($0) })
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

extension BodyCoding {
  /// The window of zlib, which also says which frame is written.
  fileprivate var window: Int32 {
    switch self {
    case .gzip: 31
    case .deflate: 15
    }
  }
}
