import StreamCore

/// What a login gives: a token, and what goes with it. It is never printed.
public struct Session: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The token that requests carry.
  public var token: String?
  /// The token that a new one is got with.
  public var refreshToken: String?
  /// When the token ends, in seconds since 1970; nil when that isn't known.
  public var expiresAt: Int64?
  /// The scheme that the token is sent under, such as "DPoP"; nil for the authenticator's own.
  public var scheme: String?
  /// The key that a proof registered with the server for this session.
  public var proofKeyID: String?

  /// A session from its parts.
  public init(
    token: String?, refreshToken: String? = nil, expiresAt: Int64? = nil, scheme: String? = nil,
    proofKeyID: String? = nil
  ) {
    self.token = token
    self.refreshToken = refreshToken
    self.expiresAt = expiresAt
    self.scheme = scheme
    self.proofKeyID = proofKeyID
  }

  /// Which parts there are, none of them shown.
  public var description: String {
    var parts: [String] = []
    if token != nil { parts.append("token") }
    if refreshToken != nil { parts.append("refresh token") }
    if let expiresAt { parts.append("expires at \(expiresAt)") }
    return "session with \(parts.isEmpty ? "nothing" : parts.joined(separator: ", "))"
  }
  /// The same.
  public var debugDescription: String { description }
  /// Nothing of the tokens.
  public var customMirror: Mirror {
    Mirror(self, children: ["hasToken": token != nil, "hasRefreshToken": refreshToken != nil])
  }

  /// As it is kept in files and keychains.
  var encoded: [UInt8] {
    var members: [String: WrittenJSON] = [:]
    if let token { members["token"] = .string(token) }
    if let refreshToken { members["refreshToken"] = .string(refreshToken) }
    if let expiresAt { members["expiresAt"] = .number(String(expiresAt)) }
    if let scheme { members["scheme"] = .string(scheme) }
    if let proofKeyID { members["proofKeyID"] = .string(proofKeyID) }
    return Array(WrittenJSON.members(members).sorted.utf8)
  }

  /// Nil for anything that isn't an encoded session.
  init?(encoded bytes: [UInt8]) {
    guard let node = WrittenJSON.parse(bytes), case .object = node else { return nil }
    self.init(
      token: node.at("token")?.text, refreshToken: node.at("refreshToken")?.text,
      expiresAt: node.at("expiresAt")?.integer, scheme: node.at("scheme")?.text,
      proofKeyID: node.at("proofKeyID")?.text)
  }
}
