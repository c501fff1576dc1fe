/// What a guard counts together: all requests of one key share its limit.
public struct GuardKey: Sendable {
  let make: @Sendable (Request) -> String?
  /// Whether it is the origin, which is looked for once for all guards of an attempt.
  private(set) var isOrigin = false

  /// A key of one's own; nil leaves the request alone.
  public init(_ make: @escaping @Sendable (Request) -> String?) { self.make = make }

  /// One for each scheme, host and port.
  public static let origin = {
    var key = GuardKey { Origin.of($0.url) }
    key.isOrigin = true
    return key
  }()
  /// One for the whole client.
  public static let client = GuardKey { _ in "" }
  /// One for each value of a header field, such as a tenant's; requests without it are left alone.
  public static func field(_ name: String) -> GuardKey { GuardKey { $0.headers[name] } }

  func callAsFunction(_ request: Request) -> String? { make(request) }
}
