@testable import Penstock
import PenstockTesting
import StreamCore
import Testing

struct ValidationTests {
  private func kind(_ answer: MockAnswer, _ change: (Call) -> Call) async -> HTTPError.Kind? {
    await failure { try await change(API(answering: answer).client.path("x")).send() }?.kind
  }

  @Test func `200 to 299 are accepted by default`() async {
    for (status, isAccepted) in [(200, true), (299, true), (300, false), (199, false), (404, false)] {
      let kind = await kind(.status(HTTPStatus(status))) { $0 }
      #expect((kind == nil) == isAccepted)
    }
  }

  @Test func `statuses are a range, a set, or a closure, and can be joined`() async {
    #expect(await kind(.status(404)) { $0.validate(.statuses(200..<500)) } == nil)
    #expect(await kind(.status(201)) { $0.accept(statuses: 200, 404) } == .httpStatus)
    #expect(await kind(.status(404)) { $0.accept(.success.or(.oneOf([404]))) } == nil)
    #expect(await kind(.status(418)) { $0.accept(.matching { $0.code % 2 == 0 }) } == nil)
    #expect(await kind(.status(500)) { $0.accept(.any) } == nil)
    #expect(await kind(.status(304)) { $0.accept(.range(200...304)) } == nil)
  }

  @Test func `a content type that isn't accepted is refused`() async {
    let html = MockAnswer.status(200, headers: ["Content-Type": "text/html"], body: "x".utf8)
    #expect(await kind(html) { $0.validate(.contentType("application/json")) } == .validationFailed)
    #expect(await kind(html) { $0.validate(.contentType("application/json", "text/*")) } == nil)
    #expect(await kind(.json("{}")) { $0.validate(.contentType("application/json")) } == nil)
    let none = MockAnswer.status(200, body: "x".utf8)
    #expect(await kind(none) { $0.validate(.contentType("a/b")) } == .validationFailed)
    #expect(await kind(.status(204)) { $0.validate(.contentType("a/b")) } == nil)
  }

  @Test func `a check of your own sees head and body, and its error is kept`() async {
    struct Unsigned: Error {}
    let check = Validation.check { head, body in
      if head.headers["X-Signature"] != String(body.count) { throw Unsigned() }
    }
    let good = MockAnswer.status(200, headers: ["X-Signature": "2"], body: "ab".utf8)
    #expect(await kind(good) { $0.validate(check) } == nil)
    let error = await failure {
      try await API(answering: .text("ab")).client.path("x").validate(check).send()
    }
    #expect(error?.kind == .validationFailed && error?.apiError(as: Unsigned.self) != nil)
    #expect(error?.status == 200 && error?.url == "https://api.test/x")
  }

  @Test func `the status comes first, then the content type, then checks, then decoding`() async {
    let check = Validation.check { _, _ in throw HTTPError(.loginDenied, phase: .head, message: "own") }
    let all = Validation.contentType("a/b").and(check)
    #expect(await kind(.text("x", status: 500)) { $0.validate(all) } == .httpStatus)
    #expect(await kind(.text("x")) { $0.validate(all) } == .validationFailed)
    #expect(await kind(.text("x")) { $0.validate(check) } == .loginDenied)
  }

  @Test func `a client's validation holds for all calls; a call's word beats it, its checks add up`() async {
    struct Refused: Error {}
    let api = API(answering: .text("x", status: 404)) {
      $0.api.validation = .statuses(404).and(.check { _, body in if body.isEmpty { throw Refused() } })
    }
    #expect(await failure { try await api.client.path("x").send() } == nil)
    #expect(
      await failure { try await api.client.path("x").accept(statuses: 200).send() }?.kind == .httpStatus)
    let strict = api.client.path("x").validate(.check { _, _ in throw Refused() })
    #expect(await failure { try await strict.send() }?.kind == .validationFailed)
  }
}
