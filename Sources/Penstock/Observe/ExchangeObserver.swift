/// Is told what happens in a client's calls: for logs, metrics and traces.
///
/// The methods are called in the task that makes the call, in order for each call, and for several calls at once: they
/// must be quick and must not wait. A call that is dropped before its end ends with `ExchangeMetrics.Outcome.left`.
public protocol ExchangeObserver: Sendable {
  /// A call begins; nothing has been sent.
  func started(_ exchange: ObservedExchange)
  /// Something happened: all events but the body's bytes, and `completed`, which `ended` tells.
  func happened(_ event: TransferEvent, in exchange: ObservedExchange)
  /// The call is over; exactly once for each `started`.
  func ended(_ exchange: ObservedExchange, _ metrics: ExchangeMetrics)
}

extension ExchangeObserver {
  /// Ignores it.
  public func started(_ exchange: ObservedExchange) {}
  /// Ignores it.
  public func happened(_ event: TransferEvent, in exchange: ObservedExchange) {}
  /// Ignores it.
  public func ended(_ exchange: ObservedExchange, _ metrics: ExchangeMetrics) {}
}

/// The call that an observer is told of. No secret is in it: URL and fields are redacted.
public struct ObservedExchange: Sendable {
  /// A number of its own in this process.
  public let id: UInt64
  /// The method.
  public let method: HTTPMethod
  /// The URL, its secrets cut.
  public let url: String
  /// The fields that the request has, defaults of the client included, the values of those that hold secrets cut.
  public let headers: [HTTPFields.Field]
  /// Bytes of the request's body; nil when unknown.
  public let bodyLength: Int64?
}

/// What there is to know of a call when it is over.
public struct ExchangeMetrics: Sendable {
  /// How a call ended.
  public enum Outcome: Sendable {
    /// The body came to its end. Any status.
    case completed
    /// It failed.
    case failed(HTTPError)
    /// Its reader left before the end, or was cancelled.
    case left
  }

  /// How it ended.
  public let outcome: Outcome
  /// The status of the final head, where one came.
  public let status: HTTPStatus?
  /// The protocol version of the final head.
  public let version: HTTPVersion?
  /// From the call to its end.
  public let duration: Duration
  /// From the call to the final head.
  public let timeToHead: Duration?
  /// Body bytes from the wire.
  public let received: Int64
  /// Body bytes handed out, content coding taken off.
  public let decoded: Int64
  /// Redirects that were followed.
  public let redirects: Int
  /// Attempts that were retried.
  public let retries: Int
  /// Times, connection and counters of the last exchange, where a head came.
  public let facts: ExchangeFacts?

  /// The error, where it failed.
  public var error: HTTPError? {
    if case .failed(let error) = outcome { return error }
    return nil
  }
}

extension Request {
  /// Who is told of this call, beside the client's observers.
  public var observers: [any ExchangeObserver] {
    get { choices.value.observers }
    set { choices.value.observers = newValue }
  }
}

extension Call {
  /// Tells an observer of this call, beside the client's.
  public func observed(by observer: any ExchangeObserver) -> Call { modify { $0.observers.append(observer) } }
}
