/// Writes calls to a log of yours: what you hand in gets each entry, and decides where it goes.
///
/// ```swift
/// configuration.observers = [ExchangeLogger(.basic) { entry in logger.log(level: …, "\(entry.message)") }]
/// ```
///
/// Secrets are cut: user info and secret query items of URLs, the values of fields that hold secrets.
public struct ExchangeLogger: ExchangeObserver {
  /// How much is written.
  public enum Detail: Int, Sendable, Comparable {
    /// Nothing.
    case off
    /// Failed calls and statuses of 400 and above.
    case failures
    /// One entry when a call begins and one when it ends.
    case basic
    /// Also the header fields, redirects and retries.
    case headers

    /// By how much is written.
    public static func < (left: Detail, right: Detail) -> Bool { left.rawValue < right.rawValue }
  }

  /// How serious an entry is.
  public enum Level: String, Sendable, Hashable {
    /// Beginnings, fields, redirects.
    case debug
    /// Calls that ended well.
    case info
    /// Statuses of 400 and above, and retries.
    case warning
    /// Calls that failed.
    case error
  }

  /// One entry.
  public struct Entry: Sendable {
    /// How serious it is.
    public let level: Level
    /// A line for people; with `Detail.headers` the fields follow, a line each.
    public let message: String
    /// The number that all entries of a call have in common.
    public let id: UInt64
  }

  private let detail: Detail
  private let redacted: Set<String>
  private let write: @Sendable (Entry) -> Void

  /// - Parameters:
  ///   - detail: how much is written.
  ///   - redacting: names of further fields whose values are cut.
  ///   - write: gets the entries, in the task that makes the call: it must be quick.
  public init(
    _ detail: Detail = .basic, redacting: Set<String> = [], write: @escaping @Sendable (Entry) -> Void
  ) {
    self.detail = detail
    redacted = Set(redacting.map { $0.lowercased() })
    self.write = write
  }

  /// Writes that a call begins.
  public func started(_ exchange: ObservedExchange) {
    guard detail >= .basic else { return }
    var text = "--> \(exchange.method) \(exchange.url)"
    if exchange.bodyLength != 0 {
      text += " (\(exchange.bodyLength.map { "\($0) bytes" } ?? "body of unknown length"))"
    }
    if detail >= .headers { text += lines(exchange.headers) }
    put(.debug, text, exchange)
  }

  /// Writes heads, redirects and retries.
  public func happened(_ event: TransferEvent, in exchange: ObservedExchange) {
    guard detail >= .headers else { return }
    switch event {
    case .head(let head):
      put(.debug, "<-- \(Self.statusLine(head.head))" + lines(Array(head.headers)), exchange)
    case .redirect(let hop):
      put(.debug, "<-> \(hop.status) to \(hop.method) \(Redaction.url(hop.to))", exchange)
    case .retry(let retry): put(.warning, "<-> attempt \(retry.number) follows: \(retry.failed)", exchange)
    default: break
    }
  }

  /// Writes how a call ended.
  public func ended(_ exchange: ObservedExchange, _ metrics: ExchangeMetrics) {
    let time = "\(Self.milliseconds(metrics.duration)) ms"
    switch metrics.outcome {
    case .failed(let error):
      if detail >= .failures { put(.error, "<-- failed after \(time): \(error)", exchange) }
    case .left:
      if detail >= .basic {
        put(.debug, "<-- \(exchange.method) \(exchange.url) left after \(time)", exchange)
      }
    case .completed:
      let isBad = metrics.status.map { $0.code >= 400 } ?? false
      guard detail >= (isBad ? .failures : .basic) else { return }
      put(
        isBad ? .warning : .info,
        "<-- \(metrics.status.map(\.description) ?? "") \(exchange.method) \(exchange.url) "
          + "(\(time), \(metrics.decoded) bytes)", exchange)
    }
  }

  private func put(_ level: Level, _ message: String, _ exchange: ObservedExchange) {
    write(Entry(level: level, message: message, id: exchange.id))
  }

  private func lines(_ fields: [HTTPFields.Field]) -> String {
    fields.map { field in
      let name = field.name.lowercased()
      let isSecret = Redaction.isSecretField(name) || redacted.contains(name)
      let isPlace = name == "location" || name == "content-location" || name == "referer"
      let value = isPlace ? Redaction.url(field.value) : field.value
      return "\n\(field.name): \(isSecret ? Redaction.mark : value)"
    }.joined()
  }

  private static func statusLine(_ head: ResponseHead) -> String {
    head.reason.isEmpty ? "\(head.status)" : "\(head.status) \(head.reason)"
  }

  private static func milliseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
