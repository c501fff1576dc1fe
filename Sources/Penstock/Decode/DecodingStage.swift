/// One content coding undone, piece by piece, with memory that doesn't depend on the input.
protocol DecodingStage: AnyObject {
  /// Takes bytes from the start of `input` and writes decoded ones to the start of `output`.
  ///
  /// It stops when the input is used up or the output is full; after a full output it is called again,
  /// with no input if none is left, since it may still hold decoded bytes.
  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(HTTPError) -> StageProgress

  /// The input has ended: throws unless the coded data was complete. No input at all is complete.
  func finish() throws(HTTPError)
}

/// How far one call of a stage came, in bytes.
struct StageProgress: Equatable {
  var consumed = 0
  var produced = 0

  static func + (left: StageProgress, right: StageProgress) -> StageProgress {
    StageProgress(consumed: left.consumed + right.consumed, produced: left.produced + right.produced)
  }
}

extension HTTPError {
  static func damaged(_ coding: ContentCoding, _ detail: String) -> HTTPError {
    HTTPError(
      .contentEncoding, phase: .decode, message: "the \(coding.rawValue) content is damaged: \(detail)")
  }

  static func trailingGarbage(_ coding: ContentCoding) -> HTTPError {
    HTTPError(
      .contentEncoding, phase: .decode,
      message: "bytes that belong to nothing follow the end of the \(coding.rawValue) content")
  }

  static func cutOff(_ coding: ContentCoding) -> HTTPError {
    HTTPError(
      .truncated, phase: .decode, message: "the body ended before the end of the \(coding.rawValue) content")
  }

  static func decoderUnavailable(_ coding: ContentCoding) -> HTTPError {
    HTTPError(
      .outOfResources, phase: .decode, message: "no memory for a \(coding.rawValue) decoder")
  }
}
