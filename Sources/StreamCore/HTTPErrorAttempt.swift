extension HTTPError {
  /// An attempt that failed and was followed by another.
  public struct Attempt: Sendable, Hashable, CustomStringConvertible {
    /// 1 for the first.
    public let number: Int
    /// What went wrong; nil when a status was the reason.
    public let kind: Kind?
    /// The status, when one came.
    public let status: HTTPStatus?
    /// What happened, in a few words.
    public let reason: String
    /// How long the attempt took.
    public let duration: Duration

    package init(number: Int, kind: Kind?, status: HTTPStatus?, reason: String, duration: Duration) {
      self.number = number
      self.kind = kind
      self.status = status
      self.reason = reason
      self.duration = duration
    }

    /// `503 after 0.2 s`.
    public var description: String {
      let (seconds, attoseconds) = duration.components
      return "\(reason) after \(seconds).\(attoseconds / 100_000_000_000_000_000) s"
    }
  }
}
