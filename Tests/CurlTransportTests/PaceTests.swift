import StreamCore
import Testing

@testable import CurlTransport

@Suite struct PaceTests {
  @Test func `the pauses of a rate aren't the peer's`() {
    var options = TransportOptions()
    #expect(options.pacedTimeouts == options.timeouts)
    options.bytesPerSecond = 1
    #expect((options.pacedTimeouts.idle ?? .zero) > .seconds(16 << 10))
    options.timeouts.idle = nil
    #expect(options.pacedTimeouts.idle == nil)
  }

  @Test(arguments: [(1, 512), (8000, 1000), (1 << 30, 4096)]) func `a piece is an eighth of a second's bytes`(
    _ rate: Int64, _ count: Int
  ) {
    var options = TransportOptions()
    options.bytesPerSecond = rate
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    defer { buffer.deallocate() }
    #expect(options.paced(buffer).count == count)
    options.bytesPerSecond = nil
    #expect(options.paced(buffer).count == 4096)
  }

  @Test func `what can't be is refused before anything is sent`() {
    for edit: @Sendable (inout TransportOptions) -> Void in [
      { $0.bytesPerSecond = 0 }, { $0.bytesPerSecond = -1 }, { $0.expectLimit = .seconds(-1) },
    ] {
      var options = TransportOptions()
      edit(&options)
      #expect(throws: HTTPError(.invalidConfiguration, phase: .queue, message: "")) {
        try RequestCheck.check(TransportRequest(method: .get, url: "http://h/", options: options))
      }
    }
  }

  @Test(arguments: ["Content-Length", "host", "bad name", "", "Authorization", "Trailer"])
  func `names that can't be trailers are refused`(_ name: String) {
    let body = RequestBody.string("x").trailers([name]) { [:] }
    #expect(throws: HTTPError(.invalidHeader, phase: .queue, message: "")) {
      try RequestCheck.check(TransportRequest(method: .post, url: "http://h/", body: body))
    }
  }
}
