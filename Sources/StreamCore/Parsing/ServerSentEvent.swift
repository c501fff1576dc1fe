/// One event of an event stream (WHATWG HTML §9.2).
///
/// Its bytes are shared with the chunk that it came in: `data` makes the string. Keep that rather than the event
/// if you keep few of many.
public struct ServerSentEvent: Sendable {
  /// What most events of a stream have in common.
  final class Label: Sendable {
    let type: String
    let id: String
    let retry: Int64?

    init(type: String, id: String, retry: Int64?) {
      self.type = type
      self.id = id
      self.retry = retry
    }
  }

  /// Nil for what most events of most streams are: a message without ID and retry.
  private let label: Label?
  /// The data as it came: all `data` lines, joined by LF.
  public let bytes: BodyChunk

  init(label: Label?, bytes: BodyChunk) {
    self.label = label
    self.bytes = bytes
  }

  /// An event from its parts; `retry` in milliseconds.
  public init(type: String = "message", data: String, id: String = "", retry: Int64? = nil) {
    label = Label(type: type, id: id, retry: retry)
    bytes = BodyChunk(Array(data.utf8))
  }

  /// The event's type, "message" unless the stream names one.
  public var type: String { label?.type ?? "message" }
  /// The data: all `data` lines, joined by LF; bytes that aren't UTF-8 are replaced by U+FFFD. Made anew by each
  /// call.
  public var data: String { bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  /// The last event ID so far, which a reconnection sends as `Last-Event-ID`; empty where there is none.
  public var id: String { label?.id ?? "" }
  /// The reconnection time that came with this event, in milliseconds.
  public var retry: Int64? { label?.retry }
}

extension ServerSentEvent: Hashable, CustomStringConvertible {
  /// Whether all parts are equal.
  public static func == (left: ServerSentEvent, right: ServerSentEvent) -> Bool {
    left.bytes == right.bytes && left.type == right.type && left.id == right.id && left.retry == right.retry
  }

  /// Feeds all parts.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(type)
    hasher.combine(id)
    hasher.combine(retry)
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }

  /// Type, ID and the size of the data; the data isn't shown.
  public var description: String { "ServerSentEvent(\(type), id \"\(id)\", \(bytes.count) bytes)" }
}
