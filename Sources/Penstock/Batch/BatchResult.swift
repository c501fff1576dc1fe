/// What became of one input of a batch.
public struct BatchResult<Input: Sendable, Value: Sendable>: Sendable {
  /// Which input, counted from 0 as they were read.
  public let index: Int
  /// The input.
  public let input: Input
  /// What the transform made of the response, or why there is nothing.
  public let result: Result<Value, HTTPError>
  /// How many attempts were made; 0 when nothing was sent for this input.
  public let attempts: Int
  /// From the start of the first attempt to the end, waits between attempts included; zero when nothing was sent.
  public let duration: Duration
  /// Whether another input's exchange was joined: then attempts and duration are that one's.
  public let isJoined: Bool

  /// The value.
  ///
  /// - Throws: why there is none.
  public var value: Value {
    get throws(HTTPError) { try result.get() }
  }

  /// Why there is no value; nil when there is one.
  public var error: HTTPError? {
    if case .failure(let error) = result { error } else { nil }
  }
}

/// In which order results come.
public enum BatchOrder: Sendable, Hashable {
  /// As they are ready.
  case completion
  /// As their inputs were read. Up to `window` inputs are read and not yet taken: the bound on what waits behind
  /// a slow one. 0 stands for four times `BatchLimits.total`.
  case input(window: Int)

  /// In the order of the inputs, with the usual window.
  public static var input: BatchOrder { .input(window: 0) }
}

/// A response with its body in memory.
public struct BatchResponse: Sendable {
  /// The final head.
  public let head: ResponseHead
  /// The URL that answered.
  public let url: String
  /// The redirects that led there.
  public let history: [RedirectHop]
  /// The body, content coding taken off. Empty for a 304.
  public let body: [UInt8]
  /// Times, connection and counters.
  public let facts: ExchangeFacts

  /// The status.
  public var status: HTTPStatus { head.status }
  /// The header fields.
  public var headers: HTTPFields { head.headers }
  /// Whether the server says that nothing has changed since the validators were stored (304, RFC 9110
  /// §15.4.5): see `BatchOptions.validators`.
  public var isNotModified: Bool { head.status == 304 }
}
