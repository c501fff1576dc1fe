import Penstock
import PenstockTesting
import StreamCore
import Testing

@Suite(.timeLimit(.minutes(1))) struct HeadTests {
  @Test func `repeated fields keep order and number`() async throws {
    let server = try ScriptedServer(script: [
      .expectRequest,
      .send(
        "HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Expires=Sun, 06 Nov 2033 08:49:37 GMT\r\nX-A: 1\r\n"
          + "set-cookie: b=2; Expires=Mon, 07 Nov 2033 08:49:37 GMT\r\nx-a: 2\r\nContent-Length: 0\r\n\r\n"),
    ])
    try await TestClient.with { client in
      let headers = try await client.send(.get(server.url)).headers
      #expect(
        headers[all: "SET-COOKIE"] == [
          "a=1; Expires=Sun, 06 Nov 2033 08:49:37 GMT", "b=2; Expires=Mon, 07 Nov 2033 08:49:37 GMT",
        ])
      #expect(headers[all: "x-A"] == ["1", "2"])
      #expect(headers.map(\.name) == ["Set-Cookie", "X-A", "set-cookie", "x-a", "Content-Length"])
    }
    await server.stop()
  }

  @Test func `repeated request fields go out one by one`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      var headers: HTTPFields = [:]
      headers.append("X-A", "1")
      headers.append("x-a", "2")
      headers.append("X-Empty", "")
      _ = try await client.text(.get(server.url, headers: headers))
      let request = try #require(server.requests.first)
      #expect(request.values(of: "X-A") == ["1", "2"])
      #expect(request.value(of: "X-Empty") == "")
    }
    await server.stop()
  }

  @Test func `early hints come as events and leave the final head and the next request alone`() async throws {
    let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 99\r\n\r\n"
    let server = try ScriptedServer(script: [
      .expectRequest, .send(hint + hint + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), .expectRequest,
      .response(body: "next"),
    ])
    try await TestClient.with { client in
      var informational = 0
      var body: [UInt8] = []
      for try await event in client.events(.get(server.url)) {
        switch event {
        case .informational(let head):
          informational += 1
          #expect(head.status == 103)
          #expect(head.headers["link"] == "</a>")
        case .head(let head):
          #expect(head.status == 200)
          #expect(head.headers["link"] == nil)
          #expect(head.headers[all: "content-length"] == ["2"])
        case .body(let chunk): body += chunk
        default: break
        }
      }
      #expect(informational == 2)
      #expect(String(decoding: body, as: UTF8.self) == "ok")
      try await client.expect("next", from: .get(server.url))
      #expect(server.connectionCount == 1)
    }
    await server.stop()
  }

  @Test func `trailers are a later value and never a second head`() async throws {
    let server = try ScriptedServer(
      script: .chunked(["hello"], fields: [("X-T", "head")], trailers: [("X-T", "trailer")]))
    try await TestClient.with { client in
      let response = try await client.send(.get(server.url))
      #expect(try await response.body.drain() == 5)
      #expect(response.headers["x-t"] == "head")
      #expect(response.trailers?["x-t"] == "trailer")
      var heads = 0
      for try await event in client.events(.get(server.url)) {
        if case .head = event { heads += 1 }
      }
      #expect(heads == 1)
    }
    await server.stop()
  }

  @Test(
    "answers without a body end at the head and keep the connection",
    arguments: [
      (HTTPMethod.head, "200 OK\r\nContent-Length: 1000"), (.head, "200 OK\r\nTransfer-Encoding: chunked"),
      (.get, "204 No Content"), (.get, "204 No Content\r\nContent-Length: 5"),
      (.get, "304 Not Modified\r\nContent-Length: 1000"), (.head, "404 Not Found\r\nContent-Length: 9"),
      (.get, "200 OK\r\nContent-Length: 0"),
    ])
  func no_body(method: HTTPMethod, head: String) async throws {
    let server = try ScriptedServer(script: [.respondEach([.send("HTTP/1.1 \(head)\r\n\r\n")])])
    try await TestClient.with { client in
      for _ in 0..<2 {
        let response = try await client.send(Request(method, server.url))
        #expect(try await response.body.collect(upTo: .kibibytes(1)).isEmpty)
      }
      #expect(server.connectionCount == 1)
    }
    await server.stop()
  }

  @Test func `Expect waits for 100 and then sends the body`() async throws {
    let server = try ScriptedServer(script: [
      .expectHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .expectBody, .response(body: "ok"),
    ])
    try await TestClient.with { client in
      let request = Request.post(server.url, headers: ["Expect": "100-continue"], body: .string("abc"))
      try await client.expect("ok", from: request)
      #expect(server.requests.first?.text == "abc")
    }
    await server.stop()
  }

  @Test func `a POST whose Expect is refused with 417 is sent again once`() async throws {
    let server = try ScriptedServer(respond: { request in
      request.value(of: "Expect") == nil
        ? [.response(body: "ok")]
        : [.response(status: 417, body: "no")]
    })
    // The refusal comes in place of 100, before the body.
    let early = try ScriptedServer(scripts: [
      [
        .expectHead, .send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n"), .expectRequest,
        .response(body: "ok"),
      ],
      .response(body: "ok"),
    ])
    try await TestClient.with { client in
      let request = Request.post(early.url, headers: ["Expect": "100-continue"], body: .string("abc"))
      try await client.expect("ok", from: request)
      #expect(early.requests.count == 2)
      #expect(early.requests.last?.text == "abc")
      // Without Expect a 417 is an answer like any other.
      let plain = try await client.send(.post(server.url, body: .string("abc")))
      #expect(plain.status == 200)
    }
    await server.stop()
    await early.stop()
  }

  @Test func `a refusal of Expect other than 417 is the answer`() async throws {
    let server = try ScriptedServer(script: [
      .expectHead, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"),
      .readUntilClose,
    ])
    try await TestClient.with { client in
      let request = Request.post(
        server.url, headers: ["Expect": "100-continue"], body: .bytes([UInt8](repeating: 1, count: 100_000)))
      let response = try await client.send(request)
      #expect(response.status == 413)
      #expect(try await response.body.drain() == 2)
    }
    await server.stop()
  }

  @Test func `no Expect is sent unless asked for`() async throws {
    let server = try ScriptedServer(script: .response(body: "ok"))
    try await TestClient.with { client in
      let request = Request.put(server.url, body: .bytes([UInt8](repeating: 1, count: 2 << 20)))
      try await client.expect("ok", from: request)
      #expect(server.requests.first?.value(of: "Expect") == nil)
      #expect(server.requests.first?.bodyLength == 2 << 20)
    }
    await server.stop()
  }
}
