#if Zstd
  import CZstd

  /// zstd (RFC 8878): one frame or several; a window above 8 MiB is refused (RFC 9659).
  final class ZstdStage: DecodingStage {
    private static let maximumWindowBits: Int32 = 23

    private let decoder: OpaquePointer
    private var withinFrame = false

    init() throws(HTTPError) {
      guard let decoder = ZSTD_createDStream() else { throw .decoderUnavailable(.zstd) }
      self.decoder = decoder
      ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, Self.maximumWindowBits)
    }

    deinit { ZSTD_freeDStream(decoder) }

    func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(HTTPError) -> StageProgress {
      var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
      var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
      // Without this the decoder would take the call for the beginning of a frame.
      if input.isEmpty && !withinFrame { return StageProgress() }
      repeat {
        let result = ZSTD_decompressStream(decoder, &target, &source)
        if ZSTD_isError(result) != 0 {
          throw .damaged(.zstd, ZSTD_getErrorName(result).map { String(cString: $0) } ?? "unknown error")
        }
        withinFrame = result != 0
      } while source.pos < source.size && target.pos < target.size
      return StageProgress(consumed: source.pos, produced: target.pos)
    }

    func finish() throws(HTTPError) {
      if withinFrame { throw .cutOff(.zstd) }
    }
  }
#endif
