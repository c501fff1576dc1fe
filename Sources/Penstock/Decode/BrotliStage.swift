#if Brotli
  import CBrotli

  /// br (RFC 7932): one stream, nothing after it. Its window takes up to 16 MiB.
  final class BrotliStage: DecodingStage {
    private enum State {
      case empty
      case data
      case ended
    }

    private let decoder: OpaquePointer
    private var state = State.empty

    init() throws(HTTPError) {
      guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else {
        throw .decoderUnavailable(.brotli)
      }
      self.decoder = decoder
    }

    deinit { BrotliDecoderDestroyInstance(decoder) }

    func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(HTTPError) -> StageProgress {
      switch state {
      case .empty:
        if input.isEmpty { return StageProgress() }
        state = .data
      case .data: break
      case .ended:
        if !input.isEmpty { throw .trailingGarbage(.brotli) }
        return StageProgress()
      }
      var inputCount = input.count
      var inputStart = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
      var outputCount = output.count
      var outputStart = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      let result = BrotliDecoderDecompressStream(
        decoder, &inputCount, &inputStart, &outputCount, &outputStart, nil)
      switch result {
      case BROTLI_DECODER_RESULT_SUCCESS: state = .ended
      case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: break
      default:
        let text = BrotliDecoderErrorString(BrotliDecoderGetErrorCode(decoder))
        throw .damaged(.brotli, text.map { String(cString: $0) } ?? "unknown error")
      }
      return StageProgress(consumed: input.count - inputCount, produced: output.count - outputCount)
    }

    func finish() throws(HTTPError) {
      if state == .data { throw .cutOff(.brotli) }
    }
  }
#endif
