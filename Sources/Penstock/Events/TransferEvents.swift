import Synchronization

/// Everything that happens in one exchange: cold, iterated once, ordered, nothing left out.
///
/// Leaving the loop or cancelling the task ends the exchange.
public struct TransferEvents: AsyncSequence, Sendable {
  /// One happening.
  public typealias Element = TransferEvent
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  private final class Claim: Sendable {
    let isTaken = Atomic<Bool>(false)
  }

  private let request: Request
  private let client: Client
  private let claim = Claim()

  init(_ request: Request, client: Client) {
    self.request = request
    self.client = client
  }

  /// The one iterator; a second one throws `HTTPError.Kind.alreadyConsumed` and sends nothing.
  public func makeAsyncIterator() -> Iterator {
    let isFirst = !claim.isTaken.exchange(true, ordering: .relaxed)
    return Iterator(isFirst ? (request, client) : nil)
  }

  /// Sends the request with the first `next()`.
  public struct Iterator: AsyncIteratorProtocol {
    private enum Phase {
      case begin(Request, Client)
      case head(PipelineRun)
      case body(BodyEvents)
      case ended
    }

    private var phase: Phase
    private let isSecond: Bool
    private let begin = ContinuousClock.now
    private var uploadReported: ContinuousClock.Instant?
    /// The latest progress that came too soon after another to be told.
    private var withheld: UploadProgress?
    /// What comes after the event that was told in its place.
    private var following: TransferEvent?
    private var observation: Observation?

    init(_ call: (Request, Client)?) {
      phase = call.map { .begin($0, $1) } ?? .ended
      isSecond = call == nil
    }

    /// The next event, nil after `completed`.
    public mutating func next() async throws(HTTPError) -> TransferEvent? {
      if isSecond { throw ResponseBody.alreadyConsumed }
      do throws(HTTPError) {
        while true {
          if let event = following.take() {
            observation?.happened(event)
            return event
          }
          switch phase {
          case .ended: return nil
          case .begin(let request, let client):
            let request = try client.resolved(request)
            observation = Observation.begun(request, client)
            let run = PipelineRun(request, client: client, reportsUpload: true)
            run.failsLate = true
            phase = .head(run)
          case .body(var events):
            let event = try await events.next()
            if let event {
              phase = .body(events)
              observation?.happened(event)
              return event
            }
            phase = .ended
          case .head(let run):
            let step = try await run.next()
            phase = .head(run)
            if let event = enter(step).map({ afterWithheld($0) }) {
              observation?.happened(event)
              return event
            }
          }
        }
      } catch {
        phase = .ended
        observation?.failed(error)
        throw error
      }
    }

    /// The next event, nil after `completed`, without leaving the caller's actor.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(HTTPError) -> TransferEvent? {
      try await next()
    }

    /// The event, or how much had been sent by then, the event following: the last count is never left out.
    private mutating func afterWithheld(_ event: TransferEvent) -> TransferEvent {
      guard let progress = withheld.take() else { return event }
      following = event
      return .uploadProgress(progress)
    }

    private mutating func enter(_ step: PipelineRun.Step) -> TransferEvent? {
      switch step {
      case .response(let response):
        phase = .body(BodyEvents(response, begin: begin))
        return .head(FinalHead(head: response.head, url: response.url, facts: response.facts))
      case .event(.uploadProgress(let progress)):
        // Ten a second are enough, and the one that says that all is sent.
        let now = ContinuousClock.now
        if progress.sent != progress.total, let last = uploadReported,
          now - last < ProgressMeter.interval
        {
          withheld = progress
          return nil
        }
        uploadReported = now
        withheld = nil
        return .uploadProgress(progress)
      case .event(let event):
        return event
      }
    }
  }
}
