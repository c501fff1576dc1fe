@testable import CurlTransport
import StreamCore
import TestSupport
import Testing

struct CurlURLTests {
  private func kind(_ text: String) -> HTTPError.Kind? {
    do {
      _ = try CurlURL(text)
      return nil
    } catch {
      return error.kind
    }
  }

  @Test func `the parts of a URL`() throws {
    let url = try CurlURL("HTTP://us%40er:p%3Aw@Host.Example:8080/a/b?c=d#frag")
    #expect(url.scheme == "http" && url.host == "host.example" && url.port == 8080)
    #expect(url.user == "us@er" && url.password == "p:w" && url.fragment == "frag")
    #expect(url.text.lowercased() == "http://host.example:8080/a/b?c=d")
    #expect(url.origin == "http://host.example:8080")
    #expect(!url.isSecure)
  }

  @Test func `default ports`() throws {
    #expect(try CurlURL("http://h").port == 80)
    #expect(try CurlURL("https://h/").port == 443)
    #expect(try CurlURL("https://h:443/").origin == (try CurlURL("https://h")).origin)
    #expect(try CurlURL("https://h").isSecure)
    #expect(try CurlURL("http://h").text == "http://h/")
  }

  @Test func `encoded octets pass through, illegal ones are encoded`() throws {
    #expect(try CurlURL("http://h/a%2Fb/%25?x=%20+|\"").text == "http://h/a%2Fb/%25?x=%20+%7C%22")
    #expect(try CurlURL("http://h/<>`{}\\^").text == "http://h/%3C%3E%60%7B%7D%5C%5E")
    #expect(try CurlURL("http://h/a;b=c,d:e@f!$&'()*").text == "http://h/a;b=c,d:e@f!$&'()*")
  }

  @Test func `text outside ASCII is encoded in path and query`() throws {
    let text = try CurlURL("http://h/é?q=é").text
    #expect(text.lowercased() == "http://h/%c3%a9?q=%c3%a9")
  }

  @Test func `spaces are encoded`() throws {
    #expect(try CurlURL("http://h/a b?c d").text == "http://h/a%20b?c+d")
  }

  @Test func `IPv6 hosts`() throws {
    let url = try CurlURL("http://[::1]:81/")
    #expect(url.host == "[::1]" && url.port == 81)
    #expect(url.origin == "http://[::1]:81")
    #expect(CurlURL.isAddress(url.host) && CurlURL.isAddress("127.0.0.1"))
    #expect(!CurlURL.isAddress("1.example") && !CurlURL.isAddress("localhost"))
  }

  @Test func `references relative to a base`() throws {
    let base = try CurlURL("http://h/a/b/c?q=1")
    #expect(try CurlURL("d", relativeTo: base).text == "http://h/a/b/d")
    #expect(try CurlURL("../d?e", relativeTo: base).text == "http://h/a/d?e")
    #expect(try CurlURL("/d", relativeTo: base).text == "http://h/d")
    #expect(try CurlURL("//other/d", relativeTo: base).text == "http://other/d")
    #expect(try CurlURL("https://s/", relativeTo: base).text == "https://s/")
    #expect(try CurlURL("?z", relativeTo: base).text == "http://h/a/b/c?z")
  }

  @Test(arguments: [
    "", " ", "http://", "http:///path", "http:/h/", "http:h", "/path", "host/path", "http://h:99999/",
    "http://h:x/",
    "http://[::1/", "http://a b/", "://h/",
  ])
  func `URLs that can't be used`(_ text: String) {
    #expect([.invalidURL, .unsupportedScheme].contains(kind(text)), "\(text)")
  }

  @Test func `control characters are refused anywhere`() {
    for byte in Array(0..<0x20) + [0x7F] as [UInt8] {
      for text in [
        "http://h/a\(Character(Unicode.Scalar(byte)))b", "http://h\(Character(Unicode.Scalar(byte)))/",
      ] {
        #expect(kind(text) == .invalidURL)
      }
    }
  }

  @Test(arguments: ["ftp://h/", "file:///etc/passwd", "gopher://h/", "ws://h/", "foo://h/"])
  func `other schemes are refused by name`(_ text: String) {
    do {
      _ = try CurlURL(text)
      Issue.record("taken")
    } catch {
      #expect(error.kind == .unsupportedScheme)
      #expect(error.message.contains(text.prefix { $0 != ":" }))
    }
  }

  @Test func `an error shows no secret`() {
    do {
      _ = try CurlURL("ftp://user:hunter2@h/")
      Issue.record("taken")
    } catch {
      #expect(!"\(error)".contains("hunter2"))
    }
  }

  @Test func `random text never traps`() {
    var random = SeededGenerator(seed: 51)
    let parts = [
      "http://", "h", "/", "?", "#", "@", ":", "[", "]", "%", "%2", "é", "..", " ", "\\", "\0", "a=b", "&",
    ]
    for _ in 0..<5_000 {
      let text = (0..<random.next(below: 12)).map { _ in parts[random.next(below: parts.count)] }.joined()
      if let url = try? CurlURL(text) {
        #expect(!url.host.isEmpty)
        #expect((try? CurlURL(url.text))?.text == url.text)
      }
    }
  }
}
