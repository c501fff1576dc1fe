/// A credential that nearly always knows at once what to put on a request and that an answer stands. Where it does,
/// the stage needs no asynchronous call and no task for the call's time limit.
protocol PromptCredential: Credential {
  /// Puts itself on a request. False: it must wait, or find out what is wrong; `authorize` sees to it, from the start.
  func authorizeAtOnce(
    _ request: inout Request, _ context: inout CredentialContext
  ) throws(HTTPError) -> Bool

  /// Whether an answer stands for sure. False: `answered` decides.
  func surelyStands(_ head: ResponseHead) -> Bool
}
