public import StreamCore

/// User name and password in the Authorization field (RFC 7617), sent unasked, as UTF-8.
public struct BasicCredential: Credential, FixedCredential {
  private let field: SecretFields
  private let isValid: Bool

  /// A user name without a colon, and a password.
  public init(user: String, password: String) {
    isValid =
      !user.utf8.contains(UInt8(ascii: ":")) && (user + password).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    field = SecretFields(["Authorization": "Basic " + Base64.encode(Array("\(user):\(password)".utf8))])
  }

  /// Throws `HTTPError.Kind.invalidConfiguration` for a user name with a colon, and for control characters
  /// (RFC 7617 §2).
  public func authorize(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) { try put(on: &request) }

  func put(on request: inout Request) throws(HTTPError) {
    guard isValid else {
      throw HTTPError(
        .invalidConfiguration, phase: .queue,
        message: "the basic credential's user name holds a colon, or there is a control character in it")
    }
    if !request.headers.contains("Authorization") { field.put(on: &request) }
  }
}

extension Credential where Self == BasicCredential {
  /// User name and password, sent unasked.
  public static func basic(user: String, password: String) -> BasicCredential {
    BasicCredential(user: user, password: password)
  }
}
