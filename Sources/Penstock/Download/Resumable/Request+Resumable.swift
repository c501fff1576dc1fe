extension Request {
  /// Whether the body of the response goes on by itself when its connection is lost, stalls or ends early: one
  /// uninterrupted stream of a GET's bytes; false.
  ///
  /// What is missing is asked for with `Range` and `If-Range` (RFC 9110 §14, §13.1.5), and each answer must begin
  /// at the very byte and be of the very state of the resource; else the body throws
  /// `HTTPError.Kind.rangeNotSatisfiable`. It needs a server that sends a strong validator; without one a loss
  /// is thrown as ever. Content codings aren't asked for. Tries that bring nothing new end after
  /// `resumptionRetries` in a row with the error that ended the last one. Leaving the body ends it at once.
  public var isResumable: Bool {
    get { choices.value.isResumable }
    set { choices.value.isResumable = newValue }
  }

  /// How often in a row a resumable body is taken up without getting any further; 5.
  public var resumptionRetries: Int {
    get { choices.value.resumptionRetries }
    set { choices.value.resumptionRetries = newValue }
  }

  /// As it is sent when it is resumable: in the form in which bytes can be counted.
  var preparedForResumption: Request {
    guard isResumable, method == .get, !headers.contains("Range") else { return self }
    var request = self
    request.decodesContent = false
    if !request.headers.contains("Accept-Encoding") { request.headers.append("Accept-Encoding", "identity") }
    return request
  }
}
