@testable import StreamCore
import Testing

struct ResponseFramingTests {
  private func framing(
    _ headers: HTTPFields, status: HTTPStatus = 200, method: HTTPMethod = .get,
    version: HTTPVersion = .http1_1
  ) -> ResponseFraming {
    ResponseFraming(ResponseHead(status: status, version: version, headers: headers), method: method)
  }

  @Test(arguments: [100, 103, 204, 304] as [HTTPStatus]) func `these statuses have no body`(
    _ status: HTTPStatus
  ) {
    #expect(framing(["Content-Length": "5"], status: status) == .none)
    #expect(framing(["Transfer-Encoding": "chunked"], status: status) == .none)
  }

  @Test func `HEAD has no body, whatever length is stated`() {
    #expect(framing(["Content-Length": "5"], method: .head) == .none)
  }

  @Test(arguments: ["5", " 5\t", "05", "5, 5"]) func `a length`(_ value: String) {
    #expect(framing(["Content-Length": value]) == .length(5))
  }

  @Test func `equal lengths on two lines count as one`() {
    #expect(framing(["Content-Length": "5", "content-length": "5"]) == .length(5))
    #expect(framing(["Content-Length": "\(Int64.max)"]) == .length(.max))
  }

  @Test(arguments: ["", "-1", "+5", "0x5", "5 5", "5.0", "5,", ",5", "5,6", "٥", "9223372036854775808"])
  func `a length that is none is invalid`(_ value: String) {
    guard case .invalid = framing(["Content-Length": value]) else {
      Issue.record("taken: \(value)")
      return
    }
  }

  @Test func `different lengths are invalid`() {
    guard case .invalid(let why) = framing(["Content-Length": "5", "Content-Length": "6"]) else {
      Issue.record("taken")
      return
    }
    #expect(why.contains("5") && why.contains("6"))
  }

  @Test(arguments: ["chunked", "Chunked", " chunked ", "chunked,"]) func `the chunked coding`(_ value: String)
  {
    #expect(framing(["Transfer-Encoding": value, "Content-Length": "5"]) == .delimited)
  }

  @Test(arguments: ["gzip", "gzip, chunked", "identity", "xchunked", "chunked\u{B}"])
  func `any other transfer coding is invalid`(_ value: String) {
    guard case .invalid = framing(["Transfer-Encoding": value]) else {
      Issue.record("taken: \(value)")
      return
    }
  }

  @Test func `without length HTTP/1 lasts until the close, HTTP/2 until its own end`() {
    #expect(framing([:]) == .untilClose)
    #expect(framing([:], version: .http1_0) == .untilClose)
    #expect(framing([:], version: .http2) == .delimited)
    #expect(framing(["Content-Length": "5"], version: .http2) == .length(5))
  }
}
