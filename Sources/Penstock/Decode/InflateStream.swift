import CZlib

/// zlib's inflate with its memory owned: the one file that sees zlib.
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

  // On the heap: zlib's state points back at it, so it must not move.
  private let stream: UnsafeMutablePointer<z_stream>

  /// Nil when there is no memory.
  init?(_ format: Format) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard cshims_inflate_init2(stream, format.windowBits) == Z_OK else {
      stream.deinitialize(count: 1)
      stream.deallocate()
      return nil
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Begins anew with the same memory; false when zlib refuses.
  func reset(_ format: Format) -> Bool { inflateReset2(stream, format.windowBits) == Z_OK }

  func inflate(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> Outcome {
    guard let target = output.baseAddress, !output.isEmpty else { return .ran(StageProgress()) }
    let inputCount = UInt32(clamping: input.count)
    let outputCount = UInt32(clamping: output.count)
    // zlib doesn't write to the input, its type only lacks the const.
    stream.pointee.next_in = input.baseAddress.map {
      UnsafeMutablePointer(mutating: $0.assumingMemoryBound(to: UInt8.self))
    }
    stream.pointee.avail_in = inputCount
    stream.pointee.next_out = target.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = outputCount
    defer {
      stream.pointee.next_in = nil
      stream.pointee.avail_in = 0
      stream.pointee.next_out = nil
      stream.pointee.avail_out = 0
    }
    let code = CZlib.inflate(stream, Z_NO_FLUSH)
    let progress = StageProgress(
      consumed: Int(inputCount - stream.pointee.avail_in),
      produced: Int(outputCount - stream.pointee.avail_out))
    switch code {
    case Z_OK, Z_BUF_ERROR: return .ran(progress)
    case Z_STREAM_END: return .ended(progress)
    case Z_NEED_DICT: return .damaged("it needs a preset dictionary")
    case Z_MEM_ERROR: return .outOfMemory
    default: return .damaged(stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(code)")
    }
  }
}

/// zlib's deflate, making a gzip file, with its memory owned. It stands here because one file sees zlib.
final class DeflateStream {
  /// How one call ended.
  struct Outcome {
    let progress: StageProgress
    /// The file is complete.
    let hasEnded: Bool
  }

  // On the heap: zlib's state points back at it, so it must not move.
  private let stream: UnsafeMutablePointer<z_stream>

  /// Nil when there is no memory.
  init?(level: Int32) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard cshims_deflate_init2(stream, level, 31) == Z_OK else {
      stream.deinitialize(count: 1)
      stream.deallocate()
      return nil
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Packs as much as goes into `output`; after the last input it is called until it has ended. Nil when zlib
  /// refuses.
  func deflate(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool
  ) -> Outcome? {
    guard let target = output.baseAddress, !output.isEmpty else { return nil }
    let inputCount = UInt32(clamping: input.count)
    let outputCount = UInt32(clamping: output.count)
    // zlib doesn't write to the input, its type only lacks the const.
    stream.pointee.next_in = input.baseAddress.map {
      UnsafeMutablePointer(mutating: $0.assumingMemoryBound(to: UInt8.self))
    }
    stream.pointee.avail_in = inputCount
    stream.pointee.next_out = target.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = outputCount
    defer {
      stream.pointee.next_in = nil
      stream.pointee.avail_in = 0
      stream.pointee.next_out = nil
      stream.pointee.avail_out = 0
    }
    let code = CZlib.deflate(stream, isLast && Int(inputCount) == input.count ? Z_FINISH : Z_NO_FLUSH)
    guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { return nil }
    return Outcome(
      progress: StageProgress(
        consumed: Int(inputCount - stream.pointee.avail_in),
        produced: Int(outputCount - stream.pointee.avail_out)),
      hasEnded: code == Z_STREAM_END)
  }
}
