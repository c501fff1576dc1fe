/// Something that happened at a scripted server. Connections count from 0 in the order of their acceptance.
public enum ScriptedServerEvent: Sendable, Hashable {
  /// A connection was accepted.
  case accepted(connection: Int)
  /// The head of a request has come.
  case head(connection: Int, RecordedRequest)
  /// A whole request has come.
  case request(connection: Int, RecordedRequest)
  /// The peer has ended its side, or reset the connection.
  case peerClosed(connection: Int, reset: Bool)
  /// Sending has stood still for 50 ms, since the peer does not read.
  case sendBlocked(connection: Int)
  /// Sending goes on.
  case sendResumed(connection: Int)
  /// The script or handler has come to its end; the error says why it ended early.
  case scriptEnded(connection: Int, error: TestServerError?)
}

/// What a scripted server knows of one connection.
public struct ConnectionRecord: Sendable, Hashable {
  /// Its number: 0 is the first that was accepted.
  public let index: Int
  /// When it was accepted.
  public let acceptedAt: ContinuousClock.Instant
  /// When the peer was seen to end its side or to reset the connection.
  public internal(set) var peerClosedAt: ContinuousClock.Instant?
  /// Whether the peer has reset the connection; a reset after an orderly end counts too.
  public internal(set) var wasReset = false
  /// Whether sending stands still since the peer does not read.
  public internal(set) var isSendBlocked = false
  /// Whether it has ever stood still.
  public internal(set) var wasSendBlocked = false
  /// When the script had ended.
  public internal(set) var scriptEndedAt: ContinuousClock.Instant?
  /// Why the script ended early; nil when it ran to its end.
  public internal(set) var error: TestServerError?
  /// How many bytes the kernel took to be sent.
  public internal(set) var bytesSent: Int64 = 0
  /// How many bytes were read.
  public internal(set) var bytesReceived: Int64 = 0
  /// Whether the connection is still open on this side.
  public var isOpen: Bool { scriptEndedAt == nil }
}
