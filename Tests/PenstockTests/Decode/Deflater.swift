import CZlib

/// Makes coded bodies for the tests, with zlib.
enum Deflater {
  static func gzip(_ bytes: [UInt8], level: Int32 = 6) -> [UInt8] { deflate(bytes, 31, level) }
  static func zlib(_ bytes: [UInt8], level: Int32 = 6) -> [UInt8] { deflate(bytes, 15, level) }
  static func raw(_ bytes: [UInt8], level: Int32 = 6) -> [UInt8] { deflate(bytes, -15, level) }

  private static func deflate(_ bytes: [UInt8], _ windowBits: Int32, _ level: Int32) -> [UInt8] {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    guard cshims_deflate_init2(stream, level, windowBits) == Z_OK else { return [] }
    defer { deflateEnd(stream) }
    var bytes = bytes
    var output = [UInt8](repeating: 0, count: Int(deflateBound(stream, UInt(bytes.count))) + 64)
    let inputCount = bytes.count
    let outputCount = output.count
    let produced = bytes.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        stream.pointee.next_in = input.baseAddress
        stream.pointee.avail_in = UInt32(inputCount)
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = UInt32(outputCount)
        _ = CZlib.deflate(stream, Z_FINISH)
        return outputCount - Int(stream.pointee.avail_out)
      }
    }
    return Array(output.prefix(produced))
  }
}
