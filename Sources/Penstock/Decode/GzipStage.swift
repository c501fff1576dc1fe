/// gzip (RFC 1952): one member or several, one after the other; nothing else may follow, but for zeros that fill up a file.
final class GzipStage: DecodingStage {
  private enum State {
    /// Before the first byte, where an end is fine: an empty body.
    case empty
    /// Within a member.
    case member
    /// After the end of a member: the end, or the next one.
    case between
  }

  private static let firstByte: UInt8 = 0x1F

  private let stream: InflateStream
  private var state = State.empty
  private let allowsPadding: Bool

  /// - Parameter allowsPadding: whether zeros may follow a member, as in files that were filled up to whole blocks.
  init(allowsPadding: Bool = false) throws(HTTPError) {
    self.allowsPadding = allowsPadding
    guard let stream = InflateStream(.gzip) else { throw .decoderUnavailable(.gzip) }
    self.stream = stream
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(HTTPError) -> StageProgress {
    var total = StageProgress()
    while total.produced < output.count {
      if state == .between, allowsPadding {
        total.consumed += input[total.consumed...].prefix { $0 == 0 }.count
      }
      let rest = UnsafeRawBufferPointer(rebasing: input[total.consumed...])
      switch state {
      case .empty:
        if rest.isEmpty { return total }
        state = .member
      case .between:
        guard let first = rest.first else { return total }
        // zlib would wait for two bytes before it looks.
        guard first == Self.firstByte, stream.reset(.gzip) else { throw .trailingGarbage(.gzip) }
        state = .member
      case .member: break
      }
      switch stream.inflate(rest, into: UnsafeMutableRawBufferPointer(rebasing: output[total.produced...])) {
      case .ran(let progress): return total + progress
      case .ended(let progress):
        total = total + progress
        state = .between
      case .damaged(let detail): throw .damaged(.gzip, detail)
      case .outOfMemory: throw .decoderUnavailable(.gzip)
      }
    }
    return total
  }

  func finish() throws(HTTPError) {
    if state == .member { throw .cutOff(.gzip) }
  }
}
