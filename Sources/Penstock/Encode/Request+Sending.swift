/// The content coding of a request's body (RFC 9110 §8.4).
public enum BodyCoding: String, Sendable, Hashable {
  /// gzip (RFC 1952).
  case gzip
  /// deflate, in the zlib format (RFC 1950). Some servers take it for bare deflate: gzip is the safer choice.
  case deflate
}

extension Request {
  /// The coding that the body is put into on its way out; nil, the default: none. Content-Encoding says so. A body
  /// of more than 64 KiB, and one whose length isn't known, is coded as it is read, so its length isn't known: it
  /// goes out in chunks. Servers that don't know the coding answer 415. A request that has a Content-Encoding field
  /// of its own is left as it is.
  public var bodyCoding: BodyCoding? {
    get { choices.value.bodyCoding }
    set { choices.value.bodyCoding = newValue }
  }

  /// Asks the server whether it wants the body before it is sent (`Expect: 100-continue`, RFC 9110 §10.1.1), and
  /// waits for so long; a server that says nothing gets the body then. Nil, the default: the body is sent at once.
  ///
  /// A final status that comes instead is the response, and the body stays unsent; a 417 makes the request be sent
  /// again without asking.
  public var expectContinue: Duration? {
    get { choices.value.expectContinue }
    set { choices.value.expectContinue = newValue }
  }
}
