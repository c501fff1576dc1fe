import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct MetalinkTests {
  private static let document = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!-- two files -->
    <metalink xmlns="urn:ietf:params:xml:ns:metalink">
      <published>2009-05-15T12:23:23Z</published>
      <file name="../example.ext">
        <size>14471447</size>
        <identity>Example &amp; more</identity>
        <hash type="md5">\(String(repeating: "0f", count: 16))</hash>
        <hash type="sha-256">\(String(repeating: "AB", count: 32))</hash>
        <pieces length="8" type="sha-1"><hash>\(String(repeating: "00", count: 20))</hash></pieces>
        <url location="de" priority="2">http://b/f?x=1&amp;y=2</url>
        <url priority="1"> https://a/f </url>
        <url><![CDATA[http://c/f]]></url>
        <url priority="1">ftp://d/f</url>
        <metaurl mediatype="torrent">http://e/f.torrent</metaurl>
      </file>
      <file name="empty"/>
    </metalink>
    """

  @Test func `a document gives places by priority and the strongest digest`() throws {
    let metalink = try Metalink(parsing: Array(Self.document.utf8))
    #expect(metalink.files.count == 2)
    let file = metalink.files[0]
    #expect(file.name == "../example.ext" && file.safeName == "example.ext" && file.size == 14_471_447)
    #expect(file.urls == ["https://a/f", "http://b/f?x=1&y=2", "http://c/f"])
    #expect(file.digests.map(\.algorithm) == [.sha256, .md5])
    #expect(metalink.files[1] == Metalink.File(name: "empty"))
  }

  @Test func `a document that was cut anywhere is refused`() {
    let bytes = Array(Self.document.utf8)
    for end in 0..<bytes.count where (try? Metalink(parsing: Array(bytes[..<end]))) != nil {
      Issue.record("cut at \(end)")
    }
  }

  @Test(arguments: [
    "<a/>", "", "text", "<metalink>", "<metalink></a></metalink>", "<metalink/><metalink/>",
    "<!DOCTYPE metalink [<!ENTITY a \"b\">]><metalink/>", "<metalink>&nope;</metalink>",
    "<metalink a='1' a='2'/>",
    "<metalink a=1/>", "<metalink>&#0;</metalink>", "<metalink", "< metalink/>", "<metalink/>x",
  ]) func `what isn't well formed is refused`(_ text: String) {
    let error = #expect(throws: HTTPError.self) { try Metalink(parsing: Array(text.utf8)) }
    #expect(error?.kind == .malformedResponse)
  }

  @Test func `references and namespaces are resolved`() throws {
    var reader = XMLReader(Array("<m:a x='&lt;&#65;&#x42;&quot;'>1&gt;2<b/></m:a>".utf8))
    var events: [XMLReader.Event] = []
    while let event = try reader.next() { events.append(event) }
    #expect(
      events == [
        .start(name: "a", attributes: ["x": "<AB\""]), .text("1>2"), .start(name: "b", attributes: [:]),
        .end(name: "b"), .end(name: "a"),
      ])
  }

  @Test func `nesting is bounded`() {
    let deep = String(repeating: "<a>", count: 100)
    #expect(throws: HTTPError.self) { try Metalink(parsing: Array(deep.utf8)) }
  }

  @Test func `damaged documents never do worse than fail`() {
    var generator = SeededGenerator(seed: 21)
    let bytes = Array(Self.document.utf8)
    for _ in 0..<400 {
      var damaged = bytes
      for _ in 0...generator.next(below: 4) {
        let at = generator.next(below: damaged.count)
        switch generator.next(below: 3) {
        case 0: damaged[at] = UInt8(truncatingIfNeeded: generator.next())
        case 1: damaged.remove(at: at)
        default: damaged.insert(contentsOf: Array("<&>'\"".utf8), at: at)
        }
      }
      _ = try? Metalink(parsing: damaged)
    }
  }
}
