/// How an event source behaves.
public struct EventSourceOptions: Sendable {
  /// Whether it connects again when the stream ends or breaks. Off: the end of the stream is the end.
  public var reconnects = true
  /// How long to wait before a reconnection until the server says otherwise (`retry`); 3 s.
  public var reconnectionTime: Duration = .seconds(3)
  /// The longest wait, also where the server asks for more; 60 s.
  public var maximumDelay: Duration = .seconds(60)
  /// How many reconnections in a row may bring no event; nil for any number. After them the last failure is
  /// thrown, or the sequence ends where there was none.
  public var maximumAttempts: Int?
  /// Whether failing to connect for the first time is no failure yet but a reason to try again. Off by default: a
  /// mistyped host should be told.
  public var retriesFirstConnection = false
  /// Statuses that are a reason to try again, such as 503; none by default, as the standard has it. `Retry-After`
  /// is heeded.
  public var retriedStatuses: Set<HTTPStatus> = []
  /// The ID to go on behind, from an earlier run; empty for none.
  public var lastEventID = ""
  /// The largest event, in bytes of data; 16 MiB.
  public var eventLimit = ByteCount.mebibytes(16)
  /// How many bytes one connection may bring; no limit.
  public var bodyLimit = ByteCount.unlimited
  /// Called with each change of the connection, in the reader's task. Don't block in it.
  public var onChange: (@Sendable (EventSourceChange) -> Void)?

  /// The defaults.
  public init() {}
}

/// What happens to the connection of an event source.
public enum EventSourceChange: Sendable {
  /// A request is about to be sent; the attempt counts from 1 and never starts again.
  case connecting(attempt: Int, lastEventID: String)
  /// The stream is open.
  case open(ResponseHead, url: String)
  /// The stream has ended, or the error says what went wrong; the next request is sent after the delay.
  case waiting(Duration, HTTPError?)
}
