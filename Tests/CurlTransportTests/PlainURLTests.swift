import StreamCore
import TestSupport
import Testing

@testable import CurlTransport

@Suite("URLs that need no parser")
struct PlainURLTests {
  /// Whatever the short way takes, libcurl reads alike.
  @Test(arguments: [
    "http://127.0.0.1:8080/1k", "https://example.com/", "http://example.com:80/a/b;c=1?x=1&y=a+b/c",
    "https://xn--bcher-kva.example/~me/(a)", "http://a-b.c1d:65535/a:b@c?d", "http://localhost/a//b///c",
    "http://10.0.0.255/x_y", "http://h:1/?q", "http://h/%", "http://a.b.c1/", "http://1.2.3.com/",
  ])
  func `reads as libcurl does`(_ text: String) throws {
    let short = try CurlURL(text)
    let long = try CurlURL(parsing: text)
    #expect(short == long)
  }

  @Test func `reads random URLs as libcurl does`() {
    var generator = SeededGenerator(seed: 1)
    let pieces = [
      "http://", "https://", "HTTP://", "a", "b.c", ".", "..", "-", "1", "127.0.0.1", "0x7f", "255", "256",
      "01", ":",
      ":80", ":0", "/", "//", "/.", "/..", "x", "?", "#", "@", "%41", "%", " ", "é", "[::1]", "&", "=", "|",
      "\\",
    ]
    for _ in 0..<20_000 {
      var text = "http://"
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        text += pieces.randomElement(using: &generator) ?? ""
      }
      guard PlainURL(text) != nil else { continue }
      let short = try? CurlURL(text)
      let long = try? CurlURL(parsing: text)
      #expect(short == long, "\(text)")
    }
  }

  @Test(arguments: [
    "http://a/../b", "http://a/./b", "http://A/", "http://a", "http://u@h/", "http://h/#f", "http://h/%41",
    "http://127.1/", "http://0x7f.1/", "http://h:080/", "http://h:70000/", "ftp://h/", "http:///x",
    "http://01.2.3.4/",
  ])
  func `leaves all others to libcurl`(_ text: String) {
    #expect(PlainURL(text) == nil)
  }
}
