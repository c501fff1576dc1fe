@testable import CurlTransport
import StreamCore
import Testing

/// Bad input is refused by name before any byte is sent.
struct RequestCheckTests {
  private func refusal(
    _ method: HTTPMethod = .get, headers: HTTPFields = [:], body: RequestBody = .empty,
    _ change: (inout TransportOptions) -> Void = { _ in }
  ) -> HTTPError? {
    var options = TransportOptions()
    change(&options)
    do {
      try RequestCheck.check(
        TransportRequest(method: method, url: "http://h/", headers: headers, body: body, options: options))
      return nil
    } catch {
      return error
    }
  }

  @Test func `good requests pass`() {
    #expect(refusal() == nil)
    #expect(refusal(.get, body: .string("x")) == nil)
    #expect(refusal(HTTPMethod("M-SEARCH"), headers: ["X": "é\t "]) == nil)
    #expect(refusal(.trace) == nil)
    #expect(refusal { $0.timeouts.total = .zero } == nil)
  }

  @Test(arguments: ["", "GE T", "GET\r\nX: y", "G\0", "GÉT", "GET/", "CONNECT"])
  func `bad methods`(_ method: String) {
    #expect(refusal(HTTPMethod(method))?.kind == .invalidMethod)
  }

  @Test func `bodies where none may be`() {
    let error = refusal(.trace, body: .string("x"))
    #expect(error?.kind == .invalidBody && error?.message.contains("TRACE") == true)
    #expect(refusal(.head, body: .file("/x"))?.kind == .invalidBody)
  }

  @Test func `a negative length of a body`() {
    let error = refusal(.post, body: .stream(AsyncStream<[UInt8]> { $0.finish() }, length: -1))
    #expect(error?.kind == .invalidBody && error?.message.contains("length") == true)
  }

  @Test(arguments: [
    ("X-A", "b\r\nC: d"), ("X-A", "b\n"), ("X-A", "\0"), ("X A", "b"), ("", "b"), ("X-A:", "b"), ("X-Ä", "b"),
  ])
  func `bad header fields are named`(_ name: String, _ value: String) {
    let error = refusal(headers: ["Good": "1", name.isEmpty ? "" : name: value])
    #expect(error?.kind == .invalidHeader)
    if name == "X-A" { #expect(error?.message.contains("\"X-A\"") == true) }
    #expect(error?.message.contains("\r") == false)
  }

  @Test func `negative limits of time are named`() {
    let changes: [(String, (inout TimeLimits) -> Void)] = [
      ("admission", { $0.admission = .seconds(-1) }), ("connect", { $0.connect = .nanoseconds(-1) }),
      ("firstByte", { $0.firstByte = .seconds(-1) }), ("idle", { $0.idle = .seconds(-1) }),
      ("total", { $0.total = .seconds(-1) }),
    ]
    for (name, change) in changes {
      let error = refusal { change(&$0.timeouts) }
      #expect(error?.kind == .invalidConfiguration && error?.message.contains(name) == true)
    }
  }

  @Test func `limits of the head must be positive`() {
    #expect(refusal { $0.headLimit.bytes = 0 }?.kind == .invalidConfiguration)
    #expect(refusal { $0.headLimit.lines = -1 }?.kind == .invalidConfiguration)
    #expect(refusal { $0.headLimit.lineBytes = -1 }?.kind == .invalidConfiguration)
  }

  @Test func `the path of a Unix socket has 1 to 107 bytes`() {
    #expect(refusal { $0.addressing.unixSocket = "" }?.kind == .invalidConfiguration)
    #expect(
      refusal { $0.addressing.unixSocket = String(repeating: "x", count: 108) }?.kind == .invalidConfiguration
    )
    #expect(refusal { $0.addressing.unixSocket = String(repeating: "x", count: 107) } == nil)
  }

  @Test func `the transport refuses before it starts a loop`() {
    let transport = CurlTransport()
    #expect(throws: HTTPError(.invalidURL, phase: .queue, message: "")) {
      _ = try transport.open(TransportRequest(method: .get, url: "http://"))
    }
  }
}
