import Penstock

/// What waits to be written, and whether somebody writes: decides, and touches no descriptor.
struct OutputQueue: Sendable {
  /// Bytes that go out together.
  enum Piece: Sendable {
    case chunk(BodyChunk)
    case bytes([UInt8])

    var count: Int {
      switch self {
      case .chunk(let chunk): chunk.count
      case .bytes(let bytes): bytes.count
      }
    }
  }

  enum AddAction: Sendable, Equatable {
    /// Nobody writes: begin.
    case begin
    /// Somebody does, and takes it with the next write.
    case wait
    /// Nothing can be written any more.
    case fail(OutputError)
  }

  enum NextAction: Sendable {
    case write([Piece])
    case rest
  }

  /// This many bytes may wait beside those that are being written.
  static let limit = 1 << 20

  private var waiting: [Piece] = []
  private var waitingBytes = 0
  private var isWriting = false
  private(set) var failure: OutputError?

  /// There is room for more, or no point in waiting for any.
  var hasRoom: Bool { waitingBytes < Self.limit || failure != nil }
  /// All is written, or nothing will be.
  var isIdle: Bool { !isWriting || failure != nil }

  mutating func add(_ piece: Piece) -> AddAction {
    if let failure { return .fail(failure) }
    waiting.append(piece)
    waitingBytes += piece.count
    if isWriting { return .wait }
    isWriting = true
    return .begin
  }

  /// What the writer does next.
  mutating func next() -> NextAction {
    guard !waiting.isEmpty, failure == nil else {
      waiting = []
      waitingBytes = 0
      isWriting = false
      return .rest
    }
    let pieces = waiting
    waiting = []
    waitingBytes = 0
    return .write(pieces)
  }

  mutating func failed(_ error: OutputError) {
    if failure == nil { failure = error }
  }
}
