public import StreamCore

/// What a device shows a person who is to agree on another one (RFC 8628 §3.2).
public struct DeviceAuthorization: Sendable, CustomStringConvertible, CustomReflectable {
  let deviceCode: Secret
  /// What the person types.
  public let userCode: String
  /// Where the person goes.
  public let verificationURL: String
  /// The same with the code in it, where the server gives that.
  public let completeVerificationURL: String?
  /// How long the codes live, from the request on.
  public let lifetime: Duration
  /// How long to wait between two questions.
  public let interval: Duration

  init?(_ body: [UInt8]) {
    guard let node = WrittenJSON.parse(body), let device = node.at("device_code")?.text,
      let user = node.at("user_code")?.text,
      // Some servers write "url".
      let url = node.at("verification_uri")?.text ?? node.at("verification_url")?.text
    else { return nil }
    deviceCode = Secret(device)
    userCode = user
    verificationURL = url
    completeVerificationURL = node.at("verification_uri_complete")?.text
    lifetime = .seconds(min(max(node.at("expires_in")?.integer ?? 600, 0), 86_400))
    interval = .seconds(min(max(node.at("interval")?.integer ?? 5, 1), 600))
  }

  /// Where to go, without the codes.
  public var description: String { "device authorization at \(Redaction.url(verificationURL))" }
  /// Nothing of the codes.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What to do after a token endpoint's answer while a person is asked (RFC 8628 §3.5). Pure.
struct DevicePolling: Sendable {
  enum Action: Sendable, Equatable {
    case wait(Duration)
    case finish
    case fail
    /// The codes are over.
    case expire
  }

  private(set) var interval: Duration
  let end: Duration

  init(interval: Duration, end: Duration) {
    self.interval = interval
    self.end = end
  }

  /// - Parameters:
  ///   - outcome: nil for a token, else the error's code.
  ///   - isTransient: the answer is no decision: a lost connection, a server's trouble.
  mutating func answered(_ outcome: String?, isTransient: Bool, isToken: Bool, now: Duration) -> Action {
    if isToken { return .finish }
    switch outcome {
    case "authorization_pending": break
    case "slow_down": interval += .seconds(5)
    case "expired_token": return .expire
    default:
      guard isTransient else { return .fail }
      // Back off, as the RFC asks after a lost connection.
      interval = min(interval * 2, .seconds(60))
    }
    return now + interval >= end ? .expire : .wait(interval)
  }
}

extension OAuth2Client {
  /// Asks for the codes of a device (RFC 8628 §3.1).
  ///
  /// - Throws: `loginDenied` for what the server refuses, `httpStatus` for what may pass (408, 429, 500 and above),
  ///   `malformedResponse` for an answer without codes, and what `Client.send(_:)` throws.
  public func requestDeviceCode(
    endpoint: String, scope: String? = nil, using client: Client
  ) async throws(HTTPError) -> DeviceAuthorization {
    let form = scope.map { [("scope", $0)] } ?? []
    let (status, _, body) = try await post(endpoint, form, using: client)
    guard status.isSuccess else {
      throw OAuth2Error(body: body, secrets: knownSecrets).error(status: status, url: endpoint)
    }
    guard let authorization = DeviceAuthorization(body) else {
      throw HTTPError(
        .malformedResponse, phase: .decode, message: "the device endpoint's answer holds no codes",
        method: .post,
        url: endpoint, status: status)
    }
    return authorization
  }

  /// Asks for the token until the person has agreed or refused, or the codes are over (RFC 8628 §3.4): at the
  /// server's pace, slower when it says so or can't be reached.
  ///
  /// - Throws: `HTTPError.Kind.loginDenied` when the person or server has refused or the codes are over; `cancelled`.
  public func waitForToken(
    _ authorization: DeviceAuthorization, using client: Client
  ) async throws(HTTPError) -> OAuth2Token {
    var polling = DevicePolling(
      interval: authorization.interval, end: clock.elapsed() + authorization.lifetime)
    var action = DevicePolling.Action.wait(authorization.interval)
    let form = [
      ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
      ("device_code", authorization.deviceCode.value),
    ]
    while case .wait(let pause) = action {
      do {
        try await client.ending.wait { [sleep = clock.sleep] in try await sleep(pause) }
      } catch {
        throw error as? HTTPError ?? .cancelled
      }
      let answer: (HTTPStatus, HTTPFields, [UInt8])
      do throws(HTTPError) {
        answer = try await post(tokenURL, form, using: client)
      } catch {
        if error.kind == .cancelled || error.kind == .shutdown { throw error }
        action = polling.answered(nil, isTransient: true, isToken: false, now: clock.elapsed())
        if action == .fail { throw error }
        continue
      }
      let (status, headers, body) = answer
      let refusal = OAuth2Error(body: body, secrets: knownSecrets + [authorization.deviceCode.value])
      let token = status.isSuccess ? OAuth2Token(headers: headers, body: body, now: clock.wall()) : nil
      let error = refusal.error(status: status, url: tokenURL)
      action = polling.answered(
        refusal.code, isTransient: error.kind == .httpStatus, isToken: token != nil, now: clock.elapsed())
      if action == .finish, let token { return token }
      if action == .fail { throw error }
    }
    throw HTTPError(
      .loginDenied, phase: .queue, message: "nobody agreed before the device's codes were over",
      advice: "Ask for new codes", method: .post, url: tokenURL)
  }
}
