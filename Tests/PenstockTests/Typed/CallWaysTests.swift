import Foundation
import Penstock
import PenstockTesting
import StreamCore
import TestSupport
import Testing

/// What a call can be made as, besides a value.
struct CallWaysTests {
  @Test func `a call is a stream of events, and a bad one says so first`() async throws {
    let api = API(answering: .text("abc"))
    var names: [String] = []
    for try await event in try api.client.path("x").events() {
      switch event {
      case .head(let head): names.append("\(head.head.status)")
      case .body(let chunk): names.append("\(chunk.count)")
      default: break
      }
    }
    #expect(names == ["200", "3"])
    let error = await failure { try api.client.path("..").events() }
    #expect(error?.kind == .invalidURL)
  }

  @Test func `a call is downloaded to a file`() async throws {
    let folder = try TestFolder()
    let api = API(answering: .text("abc"))
    let file = try await api.client.path("files", 7).query("v", 1).download(to: .file(folder("out"))).value
    #expect(file.bytes == 3 && folder.text("out") == "abc")
    #expect(api.mock.requests[0].url == "https://api.test/files/7?v=1")
  }

  @Test func `a call is an event source`() async throws {
    let api = API(
      answering: .status(200, headers: ["Content-Type": "text/event-stream"], body: "data: a\n\n".utf8))
    var options = EventSourceOptions()
    options.reconnects = false
    var seen: [String] = []
    for try await event in try api.client.path("events").header("X-A", 1).eventSource(options) {
      seen.append(event.data)
    }
    #expect(seen == ["a"] && api.mock.requests[0].headers["X-A"] == "1")
    #expect(api.mock.requests[0].headers["Accept"] == "text/event-stream")
  }

  @Test func `a call is a curl command, its client's settings in it`() throws {
    let client = API("https://h/v1") { $0.headers = ["X-App": "1"] }.client
    let command = try client.path("a b").post("hello").header("Authorization", "Bearer s").curlCommand()
    #expect(command.contains("X-App: 1") && command.hasSuffix("https://h/v1/a%20b"))
    #expect(command.contains("--data-raw hello") && !command.contains("Bearer s"))
    #expect(client.curlCommand(for: .get("/x?y=1")).hasSuffix("'https://h/v1/x?y=1'"))
  }

  @Test func `what localizedDescription says is what happened`() async {
    let error = await failure { try await API(answering: .status(404)).client.path("x").send() as Void }
    #expect((error as (any Error)?)?.localizedDescription == error?.description)
    #expect(error?.errorDescription?.contains("404") == true)
  }
}
