/// A value of your own that goes with a request, for middlewares to act on; nothing of it is sent by itself.
///
/// ```swift
/// struct Tenant: RequestKey { static let defaultValue = "public" }
///
/// let call = client.path("orders").setting(Tenant.self, "a")
/// let stage = RequestProcessor { $0.headers["X-Tenant"] = $0[Tenant.self] }
/// ```
public protocol RequestKey: SendableMetatype {
  /// What it holds.
  associatedtype Value: Sendable
  /// What a request has that says nothing else.
  static var defaultValue: Value { get }
}

extension Request {
  /// The value of a key.
  public subscript<Key: RequestKey>(key: Key.Type) -> Key.Value {
    get { choices.value.values[ObjectIdentifier(key)] as? Key.Value ?? key.defaultValue }
    set { choices.value.values[ObjectIdentifier(key)] = newValue }
  }
}
