/// The one error that Penstock throws: what happened, to which URL, in which phase, what had been received,
/// and what to try. One word in size, so that typed throws stay cheap.
public struct HTTPError: Error, Sendable {
  final class Storage: Sendable {
    let kind: Kind
    let phase: Phase
    let message: String
    let advice: String?
    let method: String?
    let url: String?
    let status: HTTPStatus?
    let received: Int64
    let mayHaveBeenProcessed: Bool
    let attempts: [Attempt]
    let certificateProblem: CertificateProblem?
    let details: Details?

    init(
      kind: Kind, phase: Phase, message: String, advice: String?, method: String?, url: String?,
      status: HTTPStatus?, received: Int64, mayHaveBeenProcessed: Bool, attempts: [Attempt] = [],
      certificateProblem: CertificateProblem? = nil, details: Details? = nil
    ) {
      self.details = details
      self.kind = kind
      self.phase = phase
      self.message = message
      self.advice = advice
      self.method = method
      self.url = url
      self.status = status
      self.received = received
      self.mayHaveBeenProcessed = mayHaveBeenProcessed
      self.certificateProblem = certificateProblem
      self.attempts = attempts
    }
  }

  let storage: Storage

  private init(_ storage: Storage) { self.storage = storage }

  /// An error; `url` is stored with its secrets cut.
  public init(
    _ kind: Kind, phase: Phase, message: String, advice: String? = nil, method: HTTPMethod? = nil,
    url: String? = nil, status: HTTPStatus? = nil, received: Int64 = 0, mayHaveBeenProcessed: Bool = false,
    certificateProblem: CertificateProblem? = nil
  ) {
    self.storage = Storage(
      kind: kind, phase: phase, message: message, advice: advice, method: method?.rawValue,
      url: url.map(Redaction.url), status: status, received: received,
      mayHaveBeenProcessed: mayHaveBeenProcessed, certificateProblem: certificateProblem)
  }

  /// What went wrong; one word for programs in its `rawValue`.
  public var kind: Kind { storage.kind }
  /// How far the exchange had come.
  public var phase: Phase { storage.phase }
  /// What happened, in a sentence without a full stop.
  public var message: String { storage.message }
  /// What to try, where there is something to try.
  public var advice: String? { storage.advice }
  /// The request's method.
  public var method: String? { storage.method }
  /// The request's URL without its secrets.
  public var url: String? { storage.url }
  /// The status, when a final head had arrived.
  public var status: HTTPStatus? { storage.status }
  /// How many bytes of the body had arrived from the wire.
  public var received: Int64 { storage.received }
  /// Whether the server may have acted on the request; false says that it surely has not.
  public var mayHaveBeenProcessed: Bool { storage.mayHaveBeenProcessed }
  /// Why the server's certificate was refused; nil for every other kind than `Kind.serverCertificate`.
  public var certificateProblem: CertificateProblem? { storage.certificateProblem }
  /// The attempts before this one that failed and were retried, in order.
  public var attempts: [Attempt] { storage.attempts }
  /// curl's number for the kind: the exit status of the command line.
  public var code: Int { kind.code }

  /// The task was cancelled, or the stream was dropped. For comparing: `catch where error == .cancelled`.
  public static let cancelled = HTTPError(.cancelled, phase: .queue, message: "cancelled")

  /// The same, for readers that know how far the exchange was.
  package static func cancelled(phase: Phase, url: String? = nil) -> HTTPError {
    HTTPError(.cancelled, phase: phase, message: "cancelled", url: url)
  }

  /// A copy that names the request, for errors made where it wasn't known.
  package func naming(method: HTTPMethod, url: String) -> HTTPError {
    if storage.url != nil { return self }
    return copy(method: method.rawValue, url: Redaction.url(url))
  }

  /// A copy with how far the response had come, for errors found in its content.
  package func at(status: HTTPStatus?, received: Int64) -> HTTPError {
    copy(status: status, received: received)
  }

  /// A copy that lists the attempts before it.
  package func listing(_ attempts: [Attempt]) -> HTTPError {
    attempts.isEmpty ? self : copy(attempts: attempts)
  }

  /// A copy that says that the server may have acted, for what failed after an answer had begun.
  package func maybeProcessed() -> HTTPError { copy(mayHaveBeenProcessed: true) }

  func copy(
    method: String? = nil, url: String? = nil, status: HTTPStatus? = nil, received: Int64? = nil,
    attempts: [Attempt]? = nil, details: Details? = nil, mayHaveBeenProcessed: Bool? = nil
  ) -> HTTPError {
    HTTPError(
      Storage(
        kind: kind, phase: phase, message: message, advice: advice, method: method ?? storage.method,
        url: url ?? storage.url, status: status ?? storage.status, received: received ?? storage.received,
        mayHaveBeenProcessed: mayHaveBeenProcessed ?? storage.mayHaveBeenProcessed,
        attempts: attempts ?? storage.attempts, certificateProblem: certificateProblem,
        details: details ?? storage.details))
  }
}

extension HTTPError: Equatable, CustomStringConvertible {
  /// Whether two errors are of one kind.
  public static func == (left: HTTPError, right: HTTPError) -> Bool { left.kind == right.kind }

  /// One line for people: method, URL, message, status, phase, bytes received, advice. Control characters, which
  /// may come from the server, are written as `\u{1b}`.
  public var description: String {
    var text = ""
    if let method { text += method + " " }
    if let url { text += url + ": " }
    text += message
    var facts: [String] = []
    if kind != .httpStatus, let status { facts.append("status \(status)") }
    facts.append("in phase \(phase.rawValue)")
    if received > 0 { facts.append("\(received) bytes received") }
    if !attempts.isEmpty { facts.append("attempt \(attempts.count + 1)") }
    text += " (" + facts.joined(separator: ", ") + ")"
    if let advice { text += ". " + advice }
    if !attempts.isEmpty { text += ". Before: " + attempts.map(\.description).joined(separator: "; ") }
    return PlainText.oneLine(text)
  }
}
