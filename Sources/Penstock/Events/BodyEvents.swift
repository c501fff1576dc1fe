/// The events from the head to the end: body, progress, trailers, completed.
struct BodyEvents {
  private let response: Response
  private var iterator: ResponseBody.Iterator
  private let counter: (any WireCounting)?
  private var meter: ProgressMeter
  private var decoded: Int64 = 0
  private let begin: ContinuousClock.Instant
  private var waiting: [TransferEvent] = []
  private var isComplete = false

  init(_ response: Response, begin: ContinuousClock.Instant) {
    self.response = response
    self.begin = begin
    counter = response.wireCounter
    iterator = response.body.makeAsyncIterator()
    meter = ProgressMeter(total: response.announcedLength, now: .zero)
  }

  private var received: Int64 { counter?.received ?? decoded }

  mutating func next() async throws(HTTPError) -> TransferEvent? {
    if !waiting.isEmpty { return waiting.removeFirst() }
    if isComplete { return nil }
    let piece: BodyChunk?
    do throws(HTTPError) {
      piece = try await iterator.next()
    } catch {
      // A cancelled task doesn't know how far the exchange was.
      guard error.kind == .cancelled else { throw error }
      throw error.at(status: response.status, received: max(received, error.received))
    }
    guard let chunk = piece else {
      complete()
      return waiting.removeFirst()
    }
    decoded += Int64(chunk.count)
    let now = ContinuousClock.now - begin
    if meter.update(received: received, decoded: decoded, now: now) {
      waiting.append(.progress(meter.progress))
    }
    return .body(chunk)
  }

  private mutating func complete() {
    isComplete = true
    let duration = ContinuousClock.now - begin
    _ = meter.update(received: received, decoded: decoded, now: duration)
    waiting.append(.progress(meter.finish(now: duration)))
    if let trailers = response.trailers { waiting.append(.trailers(trailers)) }
    waiting.append(
      .completed(
        TransferSummary(
          received: received, decoded: decoded, duration: duration,
          facts: response.finalFacts ?? response.facts)))
  }
}

/// A body source that knows how many bytes it took from the wire.
protocol WireCounting: AnyObject, Sendable {
  var received: Int64 { get }
}

extension DecodedBodySource: WireCounting {}
