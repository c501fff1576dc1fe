@testable import StreamCore
import Testing

struct ResponseBodyTests {
  @Test func `a body of bytes reads back`() async throws {
    #expect(try await ResponseBody([1, 2, 3]).collect(upTo: .bytes(3)) == [1, 2, 3])
    #expect(try await ResponseBody([]).collect(upTo: .bytes(0)) == [])
    #expect(try await ResponseBody([UInt8](repeating: 0, count: 77)).drain() == 77)
  }

  @Test func `a second iterator throws, and doesn't disturb the first`() async throws {
    let body = ResponseBody([1, 2, 3])
    var first = body.makeAsyncIterator()
    var second = body.makeAsyncIterator()
    await #expect(throws: ResponseBody.alreadyConsumed) { try await second.next() }
    await #expect(throws: ResponseBody.alreadyConsumed) { try await body.collect(upTo: .bytes(1 << 20)) }
    await #expect(throws: ResponseBody.alreadyConsumed) { try await body.drain() }
    #expect(try await first.next()?.count == 3)
    #expect(try await first.next() == nil)
  }

  @Test func `dropping an unread body ends the exchange`() {
    let receiving = Receiving()
    do { _ = ResponseBody(source: receiving.reader) }
    #expect(receiving.producer.leaves == 1)
  }

  @Test func `dropping the iterator ends the exchange, though the body lives`() async throws {
    let receiving = Receiving()
    receiving.append(2000)
    let body = ResponseBody(source: receiving.reader)
    for try await chunk in body {
      #expect(chunk.count > 0)
      break
    }
    #expect(receiving.producer.leaves == 1)
    #expect(receiving.budget.used == 0)
    withExtendedLifetime(body) {}
  }

  @Test func `collecting more than the limit throws and ends the exchange`() async {
    let receiving = Receiving()
    receiving.append(11)
    let body = ResponseBody(source: receiving.reader)
    await #expect(throws: HTTPError(.bodyTooLarge, phase: .body, message: "")) {
      try await body.collect(upTo: .bytes(10))
    }
    #expect(receiving.producer.leaves == 1)
  }

  @Test func `an announced length over the limit throws before a byte is waited for`() async {
    let receiving = Receiving()
    let body = ResponseBody(source: receiving.reader, contentLength: 11)
    do {
      _ = try await body.collect(upTo: .bytes(10))
      Issue.record("no error")
    } catch {
      #expect(error.kind == .bodyTooLarge)
      #expect(error.message.contains("11"))
    }
    #expect(receiving.producer.leaves == 1)
  }

  @Test func `a body of exactly the limit is collected`() async throws {
    let receiving = Receiving()
    receiving.append(10)
    receiving.end()
    let body = ResponseBody(source: receiving.reader, contentLength: 10)
    #expect(try await body.collect(upTo: .bytes(10)).count == 10)
    #expect(receiving.producer.leaves == 0)
  }

  @Test func `a negative limit is refused by name`() async {
    let receiving = Receiving()
    let body = ResponseBody(source: receiving.reader)
    do {
      _ = try await body.collect(upTo: .bytes(-1))
      Issue.record("no error")
    } catch {
      #expect(error.kind == .invalidConfiguration)
      #expect(error.message.contains("limit"))
    }
    #expect(receiving.producer.leaves == 1)
  }
}
