import StreamCore
import Synchronization

/// A body that is taken up where it was when its connection is lost.
final class ResumingBodySource: BodySource, WireCounting, @unchecked Sendable {
  // Sendable: a body source is used by one task at a time; what `abandon` and `received` touch is behind a lock.
  private struct State: Sendable {
    /// Nil once nobody reads any more.
    var source: (any BodySource)?
    /// Keeps the exchange of a later answer.
    var response: Response?
    var position: Int64 = 0
    var isAbandoned = false
  }

  private let client: Client
  private let request: Request
  private let validator: EntityValidator
  private let state: Mutex<State>
  private var total: Int64?
  private var policy: HealingPolicy
  private var failure: HTTPError?

  /// The body of a response that can be taken up; else the body as it is.
  static func wrap(
    _ source: any BodySource, request: Request, head: ResponseHead, framing: ResponseFraming,
    isEndVerifiable: Bool, client: Client
  ) -> any BodySource {
    guard request.isResumable, request.method == .get, head.status == 200, !request.headers.contains("Range"),
      !head.headers.contains("Content-Encoding"), isEndVerifiable, framing != .none
    else { return source }
    let validator = EntityValidator(head.headers)
    guard validator.isStrong else { return source }
    var total: Int64?
    if case .length(let length) = framing { total = length }
    return ResumingBodySource(source, request: request, validator: validator, total: total, client: client)
  }

  private init(
    _ source: any BodySource, request: Request, validator: EntityValidator, total: Int64?, client: Client
  ) {
    var again = request
    again.isResumable = false
    again.retry = RetryPolicy.none
    self.request = again
    self.client = client
    self.validator = validator
    self.total = total
    var retry = request.retry ?? client.configuration.retry ?? RetryPolicy()
    retry.limit = request.resumptionRetries
    policy = HealingPolicy(retry)
    state = Mutex(State(source: source))
  }

  var received: Int64 { state.withLock { $0.position } }

  func abandon() {
    let (source, response) = state.withLock { state in
      state.isAbandoned = true
      return (state.source.take(), state.response.take())
    }
    source?.abandon()
    response?.cancel()
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    if let failure { throw failure }
    while true {
      guard let source = state.withLock({ $0.source }) else {
        throw .cancelled(phase: .body, url: request.url)
      }
      do throws(HTTPError) {
        if let chunk = try await source.next() {
          state.withLock { $0.position += Int64(chunk.count) }
          return chunk
        }
        if let total, received < total { throw truncated(total) }
        return nil
      } catch {
        do throws(HTTPError) {
          try await takeUp(after: error)
        } catch {
          failure = error
          abandon()
          throw error
        }
      }
    }
  }

  private func truncated(_ total: Int64) -> HTTPError {
    HTTPError(
      .truncated, phase: .body, message: "the body ended after \(received) of \(total) bytes",
      method: request.method, url: request.url, received: received, mayHaveBeenProcessed: true)
  }

  /// Gets another source for the bytes from the position on, or throws.
  private func takeUp(after first: HTTPError) async throws(HTTPError) {
    var error = first
    var wait: Duration?
    while true {
      if Task.isCancelled || state.withLock({ $0.isAbandoned }) { throw error }
      switch policy.failed(
        error, reached: max(1, received), retryAfter: wait, random: Double.random(in: 0..<1))
      {
      case .giveUp: throw error
      case .retry(let delay): if delay > .zero { await client.ending.sleep(delay) }
      }
      wait = nil
      if Task.isCancelled { throw .cancelled(phase: .body, url: request.url) }
      do throws(HTTPError) {
        let response = try await client.send(try rest())
        let position = received
        let judge = RangeAnswerJudge(first: position, total: total, validator: validator, hasBytes: true)
        switch judge.judge(status: response.status, headers: response.headers) {
        case .append(0, let last, let total):
          guard total == nil || last + 1 == total, let source = response.body.claimSource() else {
            response.cancel()
            throw changed("the server gave another range", response)
          }
          self.total = self.total ?? total
          let isWanted = state.withLock { state in
            guard !state.isAbandoned else { return false }
            state.source = source
            state.response = response
            return true
          }
          if !isWanted {
            source.abandon()
            throw HTTPError.cancelled(phase: .body, url: request.url)
          }
          return
        case .complete:
          // All of it had come before the loss.
          response.cancel()
          total = position
          state.withLock { $0.source = EndedBodySource() }
          return
        case .refused:
          wait = DownloadRun.retryAfter(response)
          response.cancel()
          error = HTTPError(
            .httpStatus, phase: .head, message: "the rest of the body was refused with \(response.status)",
            method: request.method, url: request.url, status: response.status, received: position)
        case .append:
          response.cancel()
          throw changed("the server gave another range", response)
        case .whole(let reason), .startOver(let reason as RestartReason?):
          response.cancel()
          throw changed(
            reason == .changed || reason == .totalChanged
              ? "it has changed on the server" : "the server doesn't give the rest alone", response)
        }
      } catch let other {
        if other.kind == .rangeNotSatisfiable || other.kind == .cancelled { throw other }
        error = other
      }
    }
  }

  private func rest() throws(HTTPError) -> Request {
    var request = request
    request.headers.append("Range", "bytes=\(received)-")
    if let ifRange = validator.ifRange { request.headers.append("If-Range", ifRange) }
    return request
  }

  private func changed(_ what: String, _ response: Response) -> HTTPError {
    HTTPError(
      .rangeNotSatisfiable, phase: .body, message: "the body can't be continued after a loss: \(what)",
      advice: "Read it again from the beginning", method: request.method, url: request.url,
      status: response.status, received: received, mayHaveBeenProcessed: true)
  }
}

/// A body that is at its end.
private final class EndedBodySource: BodySource {
  func next() async throws(HTTPError) -> BodyChunk? { nil }
  func abandon() {}
}
