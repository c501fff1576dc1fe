import StreamCore
import Testing

@Suite struct ContentRangeTests {
  @Test func theFormsAreRead() {
    #expect(ContentRange("bytes 0-9/10") == .satisfied(first: 0, last: 9, complete: 10))
    #expect(ContentRange("Bytes 5-9/*") == .satisfied(first: 5, last: 9, complete: nil))
    #expect(ContentRange(" bytes  5-5/6 ") == .satisfied(first: 5, last: 5, complete: 6))
    #expect(ContentRange("bytes */10") == .unsatisfied(complete: 10))
    #expect(ContentRange("bytes */0")?.complete == 0)
    #expect(ContentRange("bytes 0-9223372036854775806/9223372036854775807")?.complete == .max)
  }

  @Test(arguments: [
    "", "bytes", "bytes ", "bytes */*", "bytes 9-0/10", "bytes 0-10/10", "bytes 0-9", "bytes -9/10",
    "bytes 0-/10", "bytes 0-9/", "bytes=0-9/10", "items 0-9/10", "bytes +0-9/10", "bytes 0-9/10/11",
    "bytes 0-1-2/10", "bytes 0-9223372036854775808/*", "bytes 0 - 9/10", "bytes a-b/c",
  ])
  func anythingElseIsNoRange(_ text: String) { #expect(ContentRange(text) == nil) }
}

@Suite struct ContentLengthTests {
  private func agreed(_ values: String...) throws -> Int64? {
    var headers = HTTPFields()
    for value in values { headers.append("content-Length", value) }
    return try ContentLength.agreed(in: headers)
  }

  @Test func equalValuesCountAsOne() throws {
    #expect(try agreed() == nil)
    #expect(try agreed("10") == 10)
    #expect(try agreed("10", "10") == 10)
    #expect(try agreed("10, 10", " 010\t") == 10)
    #expect(try agreed("9223372036854775807") == .max)
  }

  @Test(arguments: [
    ["10", "11"], ["10, 11"], [""], [","], ["10,"], ["-1"], ["+1"], ["1 0"], ["0x10"], ["1e3"],
    ["9223372036854775808"], ["10", "abc"],
  ])
  func differentOrMalformedValuesAreAnError(_ values: [String]) {
    var headers = HTTPFields()
    for value in values { headers.append("Content-Length", value) }
    let error = #expect(throws: HTTPError.self) { _ = try ContentLength.agreed(in: headers) }
    #expect(error?.kind == .malformedResponse)
    #expect(error?.phase == .head)
  }
}
