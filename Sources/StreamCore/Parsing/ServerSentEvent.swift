/// One event of an event stream (WHATWG HTML §9.2).
public struct ServerSentEvent: Sendable, Hashable {
  /// The event's type, "message" unless the stream names one.
  public let type: String
  /// The data: all `data` lines, joined by LF; bytes that aren't UTF-8 are replaced by U+FFFD.
  public let data: String
  /// The last event ID so far, which a reconnection sends as `Last-Event-ID`; empty where there is none.
  public let id: String

  /// An event from its parts.
  public init(type: String = "message", data: String, id: String = "") {
    self.type = type
    self.data = data
    self.id = id
  }
}
