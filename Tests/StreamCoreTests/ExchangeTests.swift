@testable import StreamCore
import Testing

struct ExchangeTests {
  private let receiving = Receiving()

  private func exchange() -> Exchange {
    Exchange(receiving.storage, watermark: receiving.watermark, url: "http://host/")
  }

  @Test func `informational heads, the head, then the body`() async throws {
    let exchange = exchange()
    receiving.storage.deliver(.informational(ResponseHead(status: 103)))
    receiving.storage.deliver(.head(ResponseHead(status: 200), ExchangeFacts()))
    receiving.append([1, 2])
    receiving.storage.deliver(.trailers(["A": "b"]))
    receiving.end()
    guard case .informational(let early) = try await exchange.next(), early.status == 103,
      case .head(let head, _) = try await exchange.next(), head.status == 200
    else {
      Issue.record("wrong order")
      return
    }
    let source = exchange.bodySource()
    #expect(try await source.next() == BodyChunk([1, 2]))
    #expect(try await source.next() == nil)
    #expect(exchange.trailers == ["A": "b"])
    #expect(exchange.finalFacts != nil)
  }

  @Test func `dropping it before the head ends the exchange`() {
    do { _ = exchange() }
    #expect(receiving.producer.leaves == 1)
  }

  @Test func `after the head the body's reader is responsible`() {
    do {
      let source: any BodySource
      do { source = exchange().bodySource() }
      #expect(receiving.producer.leaves == 0)
      source.abandon()
    }
    #expect(receiving.producer.leaves == 1)
  }

  @Test func `cancelling the task that waits for the head ends the exchange`() async {
    let exchange = exchange()
    let task = Task { _ = try await exchange.next() }
    task.cancel()
    await #expect(throws: HTTPError.cancelled) { try await task.value }
    #expect(receiving.producer.leaves == 1)
  }

  @Test func `a failure in place of the head is thrown`() async {
    let exchange = exchange()
    receiving.end(.failure(HTTPError(.connectFailed, phase: .connect, message: "no")))
    await #expect(throws: HTTPError(.connectFailed, phase: .connect, message: "")) {
      try await exchange.next()
    }
  }

  @Test func `an end without a head is malformed`() async {
    let exchange = exchange()
    receiving.end()
    for _ in 0..<2 {
      await #expect(throws: HTTPError(.malformedResponse, phase: .head, message: "")) {
        try await exchange.next()
      }
    }
  }

  @Test func `upload progress is the latest value, when it was asked for`() async throws {
    let storage = ResponseBodyStorage(
      pool: receiving.pool, budget: receiving.budget, watermark: .standard, reportsUpload: true)
    let exchange = Exchange(storage, watermark: .standard, url: "http://host/", uploadLength: 10)
    storage.uploaded(3)
    storage.uploaded(7)
    guard case .uploaded(7) = try await exchange.next(uploadSeen: 0) else {
      Issue.record("no progress")
      return
    }
    storage.deliver(.head(ResponseHead(status: 200), ExchangeFacts()))
    guard case .head = try await exchange.next(uploadSeen: 7) else {
      Issue.record("no head")
      return
    }
  }
}
