import CZlib

/// zlib's inflate with its memory owned.
final class InflateStream {
  /// What surrounds the deflate data.
  enum Format {
    case gzip
    case zlib
    case raw

    /// zlib's number for it: 15 bits of window, plus 16 for gzip, negative for none.
    var windowBits: Int32 {
      switch self {
      case .gzip: 31
      case .zlib: 15
      case .raw: -15
      }
    }
  }

  /// How one call ended.
  enum Outcome {
    /// The input is used up or the output full.
    case ran(StageProgress)
    /// The end of the data, its check value right.
    case ended(StageProgress)
    /// The data is damaged, in zlib's words.
    case damaged(String)
    /// No memory.
    case outOfMemory
  }

  private let stream: ZlibStream

  /// Nil when there is no memory.
  init?(_ format: Format) {
    let stream = ZlibStream(
      begin: { cshims_inflate_init2($0, format.windowBits) }, end: { _ = inflateEnd($0) })
    guard let stream else { return nil }
    self.stream = stream
  }

  /// Begins anew with the same memory; false when zlib refuses.
  func reset(_ format: Format) -> Bool {
    stream.call { inflateReset2($0, format.windowBits) } == Z_OK
  }

  func inflate(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> Outcome {
    guard !output.isEmpty else { return .ran(StageProgress()) }
    let step = stream.step(input, into: output) { CZlib.inflate($0, Z_NO_FLUSH) }
    let progress = StageProgress(consumed: step.consumed, produced: step.produced)
    switch step.code {
    case Z_OK, Z_BUF_ERROR: return .ran(progress)
    case Z_STREAM_END: return .ended(progress)
    case Z_NEED_DICT: return .damaged("it needs a preset dictionary")
    case Z_MEM_ERROR: return .outOfMemory
    default: return .damaged(stream.message ?? "zlib error \(step.code)")
    }
  }
}
