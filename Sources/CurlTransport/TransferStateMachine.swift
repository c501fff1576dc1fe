import StreamCore

/// The states of one exchange on its loop: how far it is, which direction is held, and what to answer to
/// libcurl's callbacks. Pure; `Transfer` carries out what it says.
struct TransferStateMachine: Sendable {
  enum Phase: Sendable, Equatable {
    /// Not handed to libcurl yet.
    case queued
    /// Handed to libcurl; a name look-up may be under way.
    case resolving
    /// A socket was opened.
    case connecting
    /// The request is being sent.
    case sending
    /// The request is sent.
    case awaitingHead
    /// The final head is there.
    case receiving
    /// Nobody waits for it, but libcurl's look-up must end by itself.
    case abandoned
    /// Over.
    case ended
  }

  private(set) var phase = Phase.queued
  /// The reader asked to hold; the next body bytes pause libcurl.
  private(set) var isHeld = false
  /// How many bytes are still taken while held: the rest of what libcurl has received already.
  private var allowance = 0
  private(set) var isReceivePaused = false
  private(set) var isSendPaused = false
  /// How often the request was begun to be sent.
  private(set) var sends = 0
  /// Why we refused to go on, in place of libcurl's own reason.
  private(set) var refusal: HTTPError?
  /// How often it may be sent at most.
  private(set) var allowedSends: Int
  /// It was given a connection that must not be used.
  private var needsNewStart = false
  /// It has failed: what is left of the body is taken whether the stream wants it or not.
  private var takesAll = false
  let hasUpload: Bool

  init(allowedSends: Int, hasUpload: Bool) {
    self.allowedSends = allowedSends
    self.hasUpload = hasUpload
  }

  // MARK: start and connection

  enum StartAction: Sendable, Equatable { case begin, ignore }

  mutating func start() -> StartAction {
    guard phase == .queued else { return .ignore }
    phase = .resolving
    return .begin
  }

  enum OpenAction: Sendable, Equatable { case open, refuse }

  /// libcurl has the addresses and wants a socket.
  mutating func socketOpens() -> OpenAction {
    switch phase {
    case .abandoned, .ended: return .refuse
    case .resolving:
      phase = .connecting
      return .open
    case .queued, .connecting, .sending, .awaitingHead, .receiving: return .open
    }
  }

  enum SendAction: Sendable, Equatable {
    case send
    /// It would be sent once more than it may.
    case refuseReplay
    /// Not on this connection: libcurl closes it, and then `startsAgain`.
    case refuseConnection
    case refuse
  }

  /// The request is about to be sent on a connection, which is unfit when its peer has spoken unasked.
  mutating func requestStarts(isConnectionFit: @autoclosure () -> Bool = true) -> SendAction {
    guard phase != .abandoned, phase != .ended, refusal == nil else { return .refuse }
    guard sends < allowedSends else { return .refuseReplay }
    guard isConnectionFit() else {
      needsNewStart = true
      return .refuseConnection
    }
    sends += 1
    phase = hasUpload ? .sending : .awaitingHead
    return .send
  }

  /// It is given up as it is, to be started once more.
  mutating func wantsNewStart() { needsNewStart = true }

  /// The last send did no harm, whatever the method.
  mutating func allowOneMoreSend() { allowedSends += 1 }

  /// Whether nothing of it has been sent yet.
  var mayConnectAgain: Bool { sends == 0 && (phase == .resolving || phase == .connecting) }

  // MARK: receiving

  enum HeadAction: Sendable, Equatable { case deliver, ignore }

  /// The final head is complete.
  mutating func headArrived() -> HeadAction {
    guard phase != .abandoned, phase != .ended, refusal == nil else { return .ignore }
    phase = .receiving
    return .deliver
  }

  enum BodyAction: Sendable, Equatable { case take, pause, refuse }

  /// Body bytes are offered.
  mutating func bodyOffered(_ count: Int = 0) -> BodyAction {
    guard phase != .abandoned, phase != .ended, refusal == nil else { return .refuse }
    if isHeld, allowance >= count, allowance > 0 {
      allowance -= count
    } else if isHeld, !takesAll {
      isReceivePaused = true
      return .pause
    }
    return .take
  }

  /// The stream has taken the last bytes and wants no more for now.
  ///
  /// `allowance`: so many more bytes are taken, as libcurl would copy what it has in hand if it were paused in
  /// the middle of it.
  mutating func hold(allowance: Int = 0) {
    if !isHeld { self.allowance = allowance }
    isHeld = true
  }

  enum PauseAction: Sendable, Equatable { case none, pause }

  /// libcurl has given all that it had in hand: pause it if the stream still wants no more.
  mutating func allTaken() -> PauseAction {
    guard isHeld, !isReceivePaused, phase == .receiving else { return .none }
    isReceivePaused = true
    return .pause
  }

  enum ResumeAction: Sendable, Equatable { case none, unpause }

  /// The reader has room again.
  mutating func readerWantsMore() -> ResumeAction {
    isHeld = false
    guard isReceivePaused, phase != .abandoned, phase != .ended else { return .none }
    // Before libcurl is told: it may deliver again before it returns.
    isReceivePaused = false
    return .unpause
  }

  /// libcurl is made to offer what it holds once more; the next bytes pause it again if they must.
  mutating func reoffers() { isReceivePaused = false }

  /// libcurl is about to end it with an error while it is paused; whether what libcurl holds is to be taken.
  mutating func takesRest() -> Bool {
    guard isReceivePaused, phase == .receiving, refusal == nil else { return false }
    takesAll = true
    isReceivePaused = false
    return true
  }

  // MARK: sending

  /// The upload has no byte to give now.
  mutating func sendStarved() { isSendPaused = true }

  /// The last byte of the request was handed over.
  mutating func uploadEnded() {
    if phase == .sending { phase = .awaitingHead }
  }

  /// The feeder has bytes again, or there is nothing more to send.
  mutating func feederHasNews() -> ResumeAction {
    guard isSendPaused, phase != .abandoned, phase != .ended else { return .none }
    isSendPaused = false
    return .unpause
  }

  // MARK: end

  /// Refuses all that follows; the first reason counts.
  mutating func refuse(_ error: HTTPError) {
    if refusal == nil { refusal = error }
  }

  enum CancelAction: Sendable, Equatable {
    case none
    /// Never handed to libcurl.
    case endQueued
    /// Take it from libcurl.
    case remove
    /// The caller goes, the look-up ends by itself: so look-up threads stay counted.
    case abandon
  }

  /// The caller has gone, or a limit is passed. `isLookingUp`: it holds a place of the look-up gate.
  mutating func cancel(isLookingUp: Bool) -> CancelAction {
    switch phase {
    case .ended, .abandoned: return .none
    case .queued:
      phase = .ended
      return .endQueued
    case .resolving where isLookingUp:
      phase = .abandoned
      return .abandon
    case .resolving, .connecting, .sending, .awaitingHead, .receiving:
      phase = .ended
      return .remove
    }
  }

  /// libcurl has ended it for want of a fit connection: true once, and then it is queued as at first.
  mutating func startsAgain() -> Bool {
    guard needsNewStart, phase != .abandoned, phase != .ended, refusal == nil else { return false }
    needsNewStart = false
    isReceivePaused = false
    isSendPaused = false
    phase = .queued
    return true
  }

  enum FinishAction: Sendable, Equatable {
    case none
    /// Tell the reader.
    case report
    /// An abandoned look-up is over: only clear up.
    case clearUp
  }

  /// libcurl has finished with it.
  mutating func finished() -> FinishAction {
    switch phase {
    case .ended: return .none
    case .abandoned:
      phase = .ended
      return .clearUp
    default:
      phase = .ended
      return .report
    }
  }

  /// How far the exchange is, for an error.
  var errorPhase: HTTPError.Phase {
    switch phase {
    case .queued: .queue
    case .resolving, .connecting, .abandoned: .connect
    case .sending: .request
    case .awaitingHead: .head
    case .receiving, .ended: .body
    }
  }
}
