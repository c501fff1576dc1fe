/// How long kept connections stay. They are closed when their time is over, also when no request comes any more;
/// libcurl counts in whole seconds, so it may be up to two seconds later.
public struct ConnectionAgeLimits: Sendable, Hashable {
  /// Without an exchange; 60 s. Choose less than the servers' own limit, so that a request rarely meets a connection
  /// that is just being closed. Nil: for ever.
  public var idle: Duration? = .seconds(60)
  /// Since it was opened, however busy: then it takes no further exchange and is closed when it is idle. Nil, the
  /// default: for ever. Set it where servers behind one name change.
  public var total: Duration?

  /// The defaults.
  public init() {}

  /// The first limit below zero.
  var negative: String? {
    if let idle, idle < .zero { return "connectionAge.idle" }
    if let total, total < .zero { return "connectionAge.total" }
    return nil
  }
}
