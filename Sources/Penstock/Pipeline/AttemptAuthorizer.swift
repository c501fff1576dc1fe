/// The stage that puts credentials on each attempt and looks at each answer.
///
/// `PipelineRun` calls it between the retry stage and the transport: `authorize` before every sending (first,
/// after a redirect, after a retry, after its own `resend`), `judge` once for every final head. Both may wait,
/// for a token or a refresh; the task's cancellation reaches them. Before each of them its prompt counterpart is asked,
/// which mostly knows the answer without a wait. Requests with `isExemptFromAuthorization`
/// skip the stage, so that a refresh which goes through the client can't wait for itself.
package protocol AttemptAuthorizer: Sendable {
  /// The request with its credentials. It gets the request of the current hop as the caller and the redirects
  /// made it, never with what this stage added before.
  func authorize(
    _ request: Request, _ attempt: AuthorizationAttempt
  ) async throws(HTTPError) -> AuthorizedRequest

  /// The same where nothing must be waited for; nil: ask `authorize`.
  func authorizeAtOnce(
    _ request: Request, _ client: Client, hop: Int
  ) throws(HTTPError) -> AuthorizedRequest?

  /// Whether the answer stands for sure; else ask `judge`.
  func surelyStands(_ head: ResponseHead, to sent: AuthorizedRequest) -> Bool

  /// What is to be done with the answer, before retry and redirects see it.
  func judge(
    _ head: ResponseHead, to sent: AuthorizedRequest, _ attempt: AuthorizationAttempt
  ) async throws(HTTPError) -> AuthorizationVerdict

  /// Whether the response surely goes to the caller as it is; else ask `delivered`.
  func deliversAsIs(_ head: ResponseHead, _ request: Request, _ client: Client) -> Bool

  /// The response that the caller gets, once nothing more is sent for it.
  func delivered(
    _ response: Response, to sent: AuthorizedRequest, _ attempt: AuthorizationAttempt
  ) async throws(HTTPError) -> Response
}

extension AttemptAuthorizer {
  package func authorizeAtOnce(
    _ request: Request, _ client: Client, hop: Int
  ) throws(HTTPError) -> AuthorizedRequest? { nil }

  package func surelyStands(_ head: ResponseHead, to sent: AuthorizedRequest) -> Bool { false }

  package func deliversAsIs(_ head: ResponseHead, _ request: Request, _ client: Client) -> Bool { false }

  package func delivered(
    _ response: Response, to sent: AuthorizedRequest, _ attempt: AuthorizationAttempt
  ) async throws(HTTPError) -> Response { response }
}

/// A request with its credentials, and what the stage wants to know again when the answer is there (the
/// generation of a token, a nonce).
package struct AuthorizedRequest: Sendable {
  /// What is sent.
  package var request: Request
  /// The stage's own.
  package var memo: (any Sendable)?

  package init(_ request: Request, memo: (any Sendable)? = nil) {
    self.request = request
    self.memo = memo
  }
}

/// Which attempt of which call it is.
package struct AuthorizationAttempt: Sendable {
  /// The client that sends.
  package var client: Client
  /// The request of this hop without credentials: what `resend` starts from.
  package var request: Request
  /// 1 for the first sending of the call; retries, redirects and resends count.
  package var number: Int
  /// Redirects followed so far.
  package var hop: Int
  /// How often the stage asked to send again, in this call.
  package var resends: Int
  /// When the call must be over.
  package var deadline: MonotonicInstant?

  /// Whether its body can be sent once more; `resend` throws `bodyNotReplayable` where it can't.
  package var canResend: Bool { request.body.isEmpty || request.body.isReplayable }
}

package enum AuthorizationVerdict: Sendable {
  /// The answer stands.
  case deliver
  /// The answer is dropped and this request is sent in its place, after `authorize` has seen it.
  case resend(Request)
}
