import CZlib

/// zlib's state, its memory owned: what inflating and deflating have in common.
final class ZlibStream {
  /// How a call ended: zlib's code, and how many bytes of input and output it used.
  struct Step {
    let code: Int32
    let consumed: Int
    let produced: Int
    /// Whether there was room left in the output.
    let hasRoom: Bool
  }

  // On the heap: zlib's state points back at it, so it must not move.
  private let raw: UnsafeMutablePointer<z_stream>
  private let end: (UnsafeMutablePointer<z_stream>) -> Void

  /// Nil when there is no memory.
  init?(
    begin: (UnsafeMutablePointer<z_stream>) -> Int32,
    end: @escaping (UnsafeMutablePointer<z_stream>) -> Void
  ) {
    raw = .allocate(capacity: 1)
    self.end = end
    raw.initialize(to: z_stream())
    guard begin(raw) == Z_OK else {
      // What wasn't begun isn't ended.
      raw.deinitialize(count: 1)
      raw.deallocate()
      return nil
    }
  }

  deinit {
    end(raw)
    raw.deinitialize(count: 1)
    raw.deallocate()
  }

  /// What zlib says of the last failure.
  var message: String? { raw.pointee.msg.map { String(cString: $0) } }

  func call(_ body: (UnsafeMutablePointer<z_stream>) -> Int32) -> Int32 { body(raw) }

  /// One call with its buffers, which are forgotten after it.
  func step(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer,
    _ body: (UnsafeMutablePointer<z_stream>) -> Int32
  ) -> Step {
    let inputCount = UInt32(clamping: input.count)
    let outputCount = UInt32(clamping: output.count)
    // zlib doesn't write to the input, its type only lacks the const.
    raw.pointee.next_in = input.baseAddress.map {
      UnsafeMutablePointer(mutating: $0.assumingMemoryBound(to: UInt8.self))
    }
    raw.pointee.avail_in = inputCount
    raw.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    raw.pointee.avail_out = outputCount
    defer {
      raw.pointee.next_in = nil
      raw.pointee.avail_in = 0
      raw.pointee.next_out = nil
      raw.pointee.avail_out = 0
    }
    let code = body(raw)
    return Step(
      code: code, consumed: Int(inputCount - raw.pointee.avail_in),
      produced: Int(outputCount - raw.pointee.avail_out), hasRoom: raw.pointee.avail_out > 0)
  }
}
