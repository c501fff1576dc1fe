import StreamCore
import Testing

@testable import Penstock

@Suite struct MultipartPartsTests {
  private static let text =
    "--b\r\nContent-Range: bytes 0-2/9\r\n\r\nabc\r\n--b\r\nContent-Range: bytes 5-6/9\r\n\r\nfg\r\n--b--\r\n"

  @Test func `parts are read one after another, at every cut`() async throws {
    for cut in 0...Self.text.utf8.count {
      var seen: [String] = []
      for try await part in ResponseBody(Self.text, cut: cut).multipartParts(boundary: "b") {
        let bytes = try await part.body.collect(upTo: .kibibytes(1))
        seen.append(
          "\(part.range?.lowerBound ?? -1) \(part.completeLength ?? -1) \(String(decoding: bytes, as: UTF8.self))"
        )
      }
      #expect(seen == ["0 9 abc", "5 9 fg"], "cut at \(cut)")
    }
  }

  @Test func `what is left of a part is passed over, and can't be read later`() async throws {
    var parts: [MultipartPart] = []
    for try await part in ResponseBody(pieces: Array(Self.text.utf8).map { [$0] }).multipartParts(
      boundary: "b")
    {
      parts.append(part)
    }
    #expect(parts.count == 2)
    #expect(await collected(parts[0].body).1?.kind == .alreadyConsumed)
  }

  @Test func `a cut body fails the part that it cuts`() async throws {
    let body = ResponseBody(Array(Self.text.utf8.prefix(40)))
    var iterator = body.multipartParts(boundary: "b").makeAsyncIterator()
    let part = try #require(try await iterator.next())
    #expect(await collected(part.body).1?.kind == .truncated)
  }

  @Test func `the boundary is taken from the type`() {
    func boundary(_ type: String) -> String? { MultipartBoundary.of(type) }
    #expect(boundary("multipart/byteranges; boundary=THIS") == "THIS")
    #expect(boundary("Multipart/Mixed;charset=x; Boundary = \"a b;\\\"c\" ") == "a b;\"c")
    #expect(boundary("multipart/mixed; x=\"boundary=no\"; boundary=yes") == "yes")
    #expect(boundary("multipart/mixed") == nil)
    #expect(boundary("multipart/mixed; boundary=") == nil)
    #expect(boundary("text/plain; boundary=x") == nil)
    #expect(boundary("multipart/mixed; boundary=\(String(repeating: "x", count: 71))") == nil)
  }
}
