import CZlib

/// zlib's deflate with a gzip frame, its memory owned.
final class BodyDeflater {
  // On the heap: zlib's state points back at it, so it must not move.
  private let stream: UnsafeMutablePointer<z_stream>
  private static let gzipWindow: Int32 = 31

  /// Nil when there is no memory.
  init?() {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard cshims_deflate_init2(stream, Z_DEFAULT_COMPRESSION, Self.gzipWindow) == Z_OK else {
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

  /// Codes some input; `isLast` writes the end. `isDone`: all of the input is taken and, at the end, all written.
  func deflate(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool
  ) -> (consumed: Int, produced: Int, isDone: Bool) {
    let inputCount = UInt32(clamping: input.count)
    let outputCount = UInt32(clamping: output.count)
    // zlib doesn't write to the input, its type only lacks the const.
    stream.pointee.next_in = input.baseAddress.map {
      UnsafeMutablePointer(mutating: $0.assumingMemoryBound(to: UInt8.self))
    }
    stream.pointee.avail_in = inputCount
    stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = outputCount
    defer {
      stream.pointee.next_in = nil
      stream.pointee.avail_in = 0
      stream.pointee.next_out = nil
      stream.pointee.avail_out = 0
    }
    let code = CZlib.deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
    let left = Int(stream.pointee.avail_in)
    let isDone = isLast ? code == Z_STREAM_END : left == 0 && stream.pointee.avail_out > 0
    return (Int(inputCount) - left, Int(outputCount) - Int(stream.pointee.avail_out), isDone)
  }
}
