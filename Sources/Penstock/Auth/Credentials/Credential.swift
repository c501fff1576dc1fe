public import StreamCore

/// Something that proves to a server who asks: put on every attempt, and asked about every final answer.
///
/// Built in: `.bearer`, `.basic`, `.digest`, `.apiKey`, `.header`, `.netrc`, `.aws`, `.clientCertificate`,
/// `.session`, `.none`. One of your own needs `authorize` alone.
///
/// ```swift
/// struct Stamp: Credential {
///   func authorize(_ request: inout Request, _ context: inout CredentialContext) async throws(HTTPError) {
///     request.headers["X-Stamp"] = try await stamp()
///   }
/// }
/// configuration.credentials = [ScopedCredential(Stamp(), for: "https://api.example.com")]
/// ```
public protocol Credential: Sendable {
  /// Puts itself on a request before it is sent. It gets the request as the caller and the redirects made it,
  /// before each attempt anew. A field that the caller has set itself should stay.
  ///
  /// - Throws: whatever the request shall fail with before any byte is sent.
  func authorize(_ request: inout Request, _ context: inout CredentialContext) async throws(HTTPError)

  /// Looks at the final head of an answer to a request that it has authorized; asked only when the request can be
  /// sent again.
  ///
  /// - Throws: whatever the request shall fail with; the answer is dropped.
  func answered(
    _ head: ResponseHead, to request: Request, _ context: CredentialContext
  ) async throws(HTTPError) -> CredentialVerdict
}

extension Credential {
  /// Every answer stands.
  public func answered(
    _ head: ResponseHead, to request: Request, _ context: CredentialContext
  ) async throws(HTTPError) -> CredentialVerdict { .deliver }
}

/// What is to be done with an answer.
public enum CredentialVerdict: Sendable, Hashable {
  /// It stands.
  case deliver
  /// It is dropped, and the request is authorized and sent again.
  case resend
}

/// What a credential knows of the call that it is asked for.
public struct CredentialContext: Sendable {
  /// The client that sends, for requests that the credential needs itself.
  public let client: Client
  /// Where the request goes.
  public let origin: HTTPOrigin
  /// Redirects followed so far.
  public let hop: Int
  /// How often this call was sent again because a credential or proof asked for it.
  public let resends: Int
  /// Whether the request may be sent again after a refresh, or wait for one; see `Request.withoutRefresh()`.
  public let refreshes: Bool
  /// The credential's own note about this attempt: what `authorize` leaves here, `answered` finds.
  public var note: (any Sendable)?

  init(
    client: Client, origin: HTTPOrigin, hop: Int, resends: Int, refreshes: Bool = true,
    note: (any Sendable)? = nil
  ) {
    self.refreshes = refreshes
    self.client = client
    self.origin = origin
    self.hop = hop
    self.resends = resends
    self.note = note
  }
}

/// A credential and the origins that it was given for: it never goes anywhere else, by redirects neither.
public struct ScopedCredential: Sendable, CustomStringConvertible, CustomReflectable {
  /// The credential.
  public let credential: any Credential
  /// Where it may go.
  public let origins: [OriginPattern]

  /// - Parameters:
  ///   - credential: such as `.bearer("…")`.
  ///   - origins: such as "https://api.example.com" or "https://*.example.com".
  public init(_ credential: any Credential, for origins: OriginPattern...) {
    self.credential = credential
    self.origins = origins
  }

  /// The same with a list.
  public init(_ credential: any Credential, for origins: [OriginPattern]) {
    self.credential = credential
    self.origins = origins
  }

  func matches(_ origin: HTTPOrigin) -> Bool { origins.contains { $0.matches(origin) } }

  /// The type of the credential and its origins, no secret.
  public var description: String {
    "\(type(of: credential)) for \(origins.map(\.description).joined(separator: ", "))"
  }
  /// Nothing of the credential.
  public var customMirror: Mirror { Mirror(self, children: ["origins": origins]) }
}

/// A secret text that no description, dump or debugger view shows.
struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  let value: String
  init(_ value: String) { self.value = value }
  var description: String { Redaction.mark }
  var debugDescription: String { Redaction.mark }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Header fields that no description, dump or debugger view shows.
struct SecretFields: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  private let fields: HTTPFields
  init(_ fields: HTTPFields) { self.fields = fields }

  /// Adds them to a request. One without fields of its own shares these, so that what is made of them is made once.
  func put(on request: inout Request) {
    if request.headers.isEmpty {
      request.headers = fields
    } else {
      request.headers.append(contentsOf: fields)
    }
  }

  var description: String { Redaction.mark }
  var debugDescription: String { Redaction.mark }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What a value of an Authorization field can't hold is told before a byte is sent.
enum SecretCheck {
  /// The same for a whole field value, which may have blanks inside.
  static func fieldValue(_ text: String, _ what: String) throws(HTTPError) {
    let isPrintable = text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    guard !text.isEmpty, isPrintable, text.first != " ", text.last != " " else {
      throw HTTPError(
        .invalidConfiguration, phase: .queue,
        message: "\(what) is empty, begins or ends with a blank, or holds control or non-ASCII characters",
        advice: "Look for a line end at its end")
    }
  }

  /// Throws `HTTPError.Kind.invalidConfiguration` unless these are visible ASCII characters; the text itself
  /// isn't told.
  static func visible(_ text: String, _ what: String) throws(HTTPError) {
    guard isVisible(text) else { throw notVisible(what) }
  }

  static func isVisible(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  static func notVisible(_ what: String) -> HTTPError {
    HTTPError(
      .invalidConfiguration, phase: .queue,
      message: "\(what) is empty or holds blanks, control or non-ASCII characters",
      advice: "Look for a line end at its end")
  }
}
