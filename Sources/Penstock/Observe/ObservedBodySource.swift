import Synchronization

/// A body that tells its observers how far it is, and how it ends.
final class ObservedBodySource: BodySource {
  private struct State: Sendable {
    var meter: ProgressMeter
    var decoded: Int64 = 0
  }

  private let inner: any BodySource
  private let response: Response
  private let observation: Observation
  private let begin = ContinuousClock.now
  private let state: Mutex<State>

  init(_ inner: any BodySource, _ response: Response, _ observation: Observation) {
    self.inner = inner
    self.response = response
    self.observation = observation
    state = Mutex(State(meter: ProgressMeter(total: response.announcedLength, now: .zero)))
  }

  deinit { observation.end(.left) }

  func next() async throws(HTTPError) -> BodyChunk? {
    do throws(HTTPError) {
      guard let chunk = try await inner.next() else {
        completed()
        return nil
      }
      passed(chunk.count)
      return chunk
    } catch {
      observation.failed(error)
      throw error
    }
  }

  func abandon() {
    inner.abandon()
    observation.end(.left)
  }

  private func passed(_ count: Int) {
    let now = ContinuousClock.now - begin
    let counter = response.wireCounter
    let (decoded, received, progress) = state.withLock { state in
      state.decoded += Int64(count)
      let received = counter?.received ?? state.decoded
      let isDue = state.meter.update(received: received, decoded: state.decoded, now: now)
      return (state.decoded, received, isDue ? state.meter.progress : nil)
    }
    observation.counted(received: received, decoded: decoded)
    if let progress { observation.happened(.progress(progress)) }
  }

  private func completed() {
    let now = ContinuousClock.now - begin
    let counter = response.wireCounter
    let progress = state.withLock { state in
      _ = state.meter.update(received: counter?.received ?? state.decoded, decoded: state.decoded, now: now)
      return state.meter.finish(now: now)
    }
    observation.happened(.progress(progress))
    if let trailers = response.trailers { observation.happened(.trailers(trailers)) }
    observation.happened(
      .completed(
        TransferSummary(
          received: progress.received, decoded: progress.decoded, duration: now,
          facts: response.finalFacts ?? response.facts)))
  }
}

extension Client {
  /// A call that somebody observes.
  func send(_ request: Request, _ observation: Observation) async throws(HTTPError) -> Response {
    let run = PipelineRun(request, client: self, reportsUpload: true)
    do throws(HTTPError) {
      while true {
        switch try await run.next() {
        case .event(let event): observation.happened(event)
        case .response(let response):
          observation.happened(
            .head(FinalHead(head: response.head, url: response.url, facts: response.facts)))
          return response.observed(by: observation)
        }
      }
    } catch {
      observation.failed(error)
      throw error
    }
  }
}

extension Response {
  fileprivate func observed(by observation: Observation) -> Response {
    guard let source = body.claimSource() else { return self }
    let body = ResponseBody(
      source: ObservedBodySource(source, self, observation), contentLength: body.contentLength,
      isEndVerifiable: body.isEndVerifiable)
    return Response(
      head: head, url: url, history: history, facts: facts, body: body, exchange: exchange,
      announcedLength: announcedLength, wireCounter: wireCounter, attempts: attempts)
  }
}
