import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct FormTests {
  /// All bytes of a body, as the feeder reads them.
  static func bytes(_ body: RequestBody) async throws -> [UInt8] {
    let made = try body.made()
    switch made.content {
    case .empty, .deferred, .file: return []
    case .bytes(let chunk): return Array(chunk)
    case .stream(let make):
      let source = make()
      var all: [UInt8] = []
      while let chunk = try await source.next() { all += chunk }
      return all
    }
  }

  static func text(_ body: RequestBody) async throws -> String {
    String(decoding: try await bytes(body), as: UTF8.self)
  }

  @Test func `a form is encoded as the URL standard has it`() async throws {
    let fields = [("a b", "1+2"), ("ü", "&=;"), ("k", ""), ("k", "*-._~"), ("l", "x\r\ny")]
    #expect(FormEncoding.encode(fields) == "a+b=1%2B2&%C3%BC=%26%3D%3B&k=&k=*-._%7E&l=x%0D%0Ay")
    let body = RequestBody.form(fields)
    #expect(body.contentType == "application/x-www-form-urlencoded")
    #expect(body.length == Int64(FormEncoding.encode(fields).utf8.count))
    #expect(FormEncoding.encode([(String, String)]()).isEmpty)
  }

  @Test func `parts stand between boundaries, the length is exact`() async throws {
    var form = MultipartForm(boundary: "B")
    form.add("title", "A cat")
    form.addFile("picture", fileName: "cat.PNG", bytes: [1, 2, 3])
    form.parts.append(
      MultipartForm.Part("n", body: .string("x"), headers: ["X-A": "1", "Content-Type": "a/b"]))
    let expected =
      "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA cat\r\n"
      + "--B\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"cat.PNG\"\r\n"
      + "Content-Type: image/png\r\n\r\n\u{1}\u{2}\u{3}\r\n"
      + "--B\r\nContent-Disposition: form-data; name=\"n\"\r\nX-A: 1\r\nContent-Type: a/b\r\n\r\nx\r\n--B--\r\n"
    let body = RequestBody.multipart(form)
    let text = try await Self.text(body)
    #expect(text == expected)
    let length = try body.made().length
    #expect(length == Int64(expected.utf8.count))
    #expect(body.contentType == "multipart/form-data; boundary=B")
    #expect(body.isReplayable)
    // A second reading gives the same.
    let again = try await Self.text(body)
    #expect(again == expected)
  }

  @Test func `parts come from a builder, nil left out`() async throws {
    let caption: String? = nil
    let isDraft = true
    let form = MultipartForm {
      MultipartForm.Part.value("title", "A cat")
      MultipartForm.Part.value("caption", caption)
      if isDraft { MultipartForm.Part.value("draft", true) }
      for number in 1...2 { MultipartForm.Part.value("n", number) }
      MultipartForm.Part.file("picture", fileName: "cat.png", bytes: [1, 2])
      MultipartForm.Part("raw", body: .string("x"), headers: ["X-A": "1"])
    }
    #expect(form.parts.map(\.name) == ["title", "draft", "n", "n", "picture", "raw"])
    #expect(form.parts[4].fileName == "cat.png" && form.parts[4].body.contentType == "image/png")
    let text = try await Self.text(.multipart(form))
    #expect(text.contains("name=\"draft\"\r\n\r\ntrue\r\n") && text.hasSuffix("--\(form.boundary)--\r\n"))
  }

  @Test func `an empty form is its end alone`() async throws {
    let text = try await Self.text(.multipart(MultipartForm(boundary: "B")))
    #expect(text == "--B--\r\n")
  }

  @Test(arguments: [
    ("a", "a"), ("a\"b", "a%22b"), ("a\nb", "a%0D%0Ab"), ("a\rb", "a%0D%0Ab"), ("a\r\nb", "a%0D%0Ab"),
    ("ü%\\", "ü%\\"), ("\n\n", "%0D%0A%0D%0A"),
  ])
  func `names are escaped as the HTML standard has it`(_ name: String, _ escaped: String) {
    #expect(MultipartForm.escaped(name) == escaped)
  }

  @Test func `boundaries are random and of their kind`() {
    let boundaries = Set((0..<100).map { _ in MultipartForm().boundary })
    #expect(boundaries.count == 100)
    for boundary in boundaries {
      #expect(
        boundary.utf8.count <= 70 && boundary.utf8.allSatisfy { $0 == 0x2D || FieldSyntax.isTokenByte($0) })
    }
  }

  @Test func `files are measured when the form is sent, and read in blocks`() async throws {
    let folder = try TestFolder()
    folder.write(String(repeating: "x", count: 700_000), to: "big.txt")
    var form = MultipartForm(boundary: "B")
    form.addFile("f", path: folder("big.txt"))
    let body = try RequestBody.multipart(form).made()
    guard case .stream(let make) = body.content else {
      Issue.record("a form with a file is a stream")
      return
    }
    let source = make()
    var count: Int64 = 0
    while let chunk = try await source.next() {
      #expect(chunk.count <= 256 << 10)
      count += Int64(chunk.count)
    }
    #expect(body.length == count)
    #expect(count > 700_000)
  }

  @Test func `a file that isn't there fails before anything is sent`() {
    var form = MultipartForm()
    form.addFile("f", path: "/nonexistent/file")
    let body = RequestBody.multipart(form)
    #expect(throws: HTTPError(.readFailed, phase: .file, message: "")) { try body.made() }
  }

  @Test func `a sequence of unknown length makes the whole unknown, a one-shot one not replayable`()
    async throws
  {
    let parts = AsyncStream<[UInt8]> { continuation in
      continuation.yield([0x61])
      continuation.yield([0x62])
      continuation.finish()
    }
    var form = MultipartForm(boundary: "B")
    form.parts.append(MultipartForm.Part("s", fileName: "s", body: .stream(parts)))
    let body = RequestBody.multipart(form)
    #expect(!body.isReplayable)
    let made = try body.made()
    #expect(made.length == nil)
    let text = try await Self.text(made)
    #expect(text.contains("\r\n\r\nab\r\n--B--"))
  }

  @Test("a part of the wrong length fails the exchange", arguments: [1, 3])
  func wrong(length: Int64) async throws {
    let parts = AsyncStream<[UInt8]> { continuation in
      continuation.yield([1, 2])
      continuation.finish()
    }
    var form = MultipartForm()
    form.parts.append(MultipartForm.Part("s", body: .stream(parts, length: length)))
    let body = RequestBody.multipart(form)
    await #expect(throws: HTTPError(.invalidBody, phase: .request, message: "")) {
      _ = try await Self.bytes(body)
    }
  }

  @Test func `fields of a part that can't be sent are named`() {
    var form = MultipartForm()
    form.parts.append(MultipartForm.Part("s", body: .string("x"), headers: ["X-A": "a\r\nb"]))
    let body = RequestBody.multipart(form)
    #expect(throws: HTTPError(.invalidHeader, phase: .queue, message: "")) { try body.made() }
  }
}
