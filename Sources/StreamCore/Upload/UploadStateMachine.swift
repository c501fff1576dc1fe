/// The states of one exchange's sending side, between the feeder task and libcurl's read callback.
package struct UploadStateMachine: Sendable {
  enum State: Sendable, Equatable {
    /// More may come from the feeder.
    case open
    /// The feeder has put the last byte in.
    case complete
    /// No byte will be sent any more.
    case closed
  }

  private(set) var state = State.open
  private(set) var buffered = 0
  private(set) var sent: Int64 = 0
  /// Counts restarts: a feeder of an older epoch stops.
  private(set) var epoch = 0
  private var isStarved = false
  private var feederWaits = false
  let watermark: Watermark
  /// The announced length.
  let length: Int64?
  private var fed: Int64 = 0

  package init(watermark: Watermark, length: Int64?) {
    self.watermark = watermark
    self.length = length
  }

  package enum FeedAction: Sendable, Equatable {
    /// Keep the bytes; more are welcome.
    case keep
    /// Keep the bytes and wake the starved sender.
    case keepAndResumeSender
    /// Keep the bytes and wait for room.
    case keepAndWait
    /// Keep the bytes, wake the starved sender, and wait for room.
    case keepResumeSenderAndWait
    /// The body must be made anew.
    case restart
    /// Nobody sends any more.
    case stop
    /// More bytes than were announced.
    case tooLong
  }

  package mutating func feed(_ count: Int, epoch: Int) -> FeedAction {
    if state == .closed { return .stop }
    if epoch != self.epoch { return .restart }
    fed += Int64(count)
    if let length, fed > length { return .tooLong }
    buffered += count
    let wasStarved = isStarved && count > 0
    if wasStarved { isStarved = false }
    if buffered >= watermark.high {
      feederWaits = true
      return wasStarved ? .keepResumeSenderAndWait : .keepAndWait
    }
    return wasStarved ? .keepAndResumeSender : .keep
  }

  package enum CompleteAction: Sendable, Equatable {
    case none
    case resumeSender
    case restart
    /// Fewer bytes than were announced: the number that was fed.
    case tooShort(Int64)
  }

  /// The feeder has nothing more. It waits for the end then, since the body may have to be sent again.
  package mutating func complete(epoch: Int) -> CompleteAction {
    if state == .closed { return .none }
    if epoch != self.epoch { return .restart }
    if let length, fed < length { return .tooShort(fed) }
    state = .complete
    feederWaits = true
    defer { isStarved = false }
    return isStarved ? .resumeSender : .none
  }

  package enum ReadAction: Sendable, Equatable {
    /// Copy up to so many bytes out.
    case copy(Int)
    /// Nothing there yet.
    case pause
    /// The end of the body.
    case end
    /// The exchange is over.
    case abort
  }

  /// libcurl asks for up to `capacity` bytes.
  package mutating func read(capacity: Int) -> ReadAction {
    if state == .closed { return .abort }
    if buffered > 0 { return .copy(min(capacity, buffered)) }
    if state == .complete { return .end }
    isStarved = true
    return .pause
  }

  package enum CopiedAction: Sendable, Equatable {
    case none
    case resumeFeeder
  }

  /// So many bytes were copied out.
  package mutating func copied(_ count: Int) -> CopiedAction {
    buffered = max(0, buffered - count)
    sent += Int64(count)
    guard feederWaits, state == .open, buffered <= watermark.low else { return .none }
    feederWaits = false
    return .resumeFeeder
  }

  /// Whether the feeder waits: for room, or complete for a restart or the end.
  package var feederIsWaiting: Bool { feederWaits }

  /// Whether the sender waits for the feeder.
  package var isWaitingForFeeder: Bool { isStarved }

  /// The body is to be sent again from its start.
  package mutating func restart() -> CopiedAction {
    guard state != .closed else { return .none }
    state = .open
    epoch += 1
    buffered = 0
    sent = 0
    fed = 0
    isStarved = false
    defer { feederWaits = false }
    return feederWaits ? .resumeFeeder : .none
  }

  /// No byte will be sent any more.
  package mutating func close() -> CopiedAction {
    state = .closed
    buffered = 0
    defer { feederWaits = false }
    return feederWaits ? .resumeFeeder : .none
  }
}
