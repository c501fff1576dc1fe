import StreamCore
import Testing

struct ProxyServerTests {
  @Test(arguments: [
    ("proxy.test", ProxyServer(.http, host: "proxy.test", port: 1080)),
    ("proxy.test:3128", ProxyServer(.http, host: "proxy.test", port: 3128)),
    ("http://PROXY.test:3128/", ProxyServer(.http, host: "proxy.test", port: 3128)),
    ("https://proxy.test", ProxyServer(.https, host: "proxy.test", port: 443)),
    ("socks4://h:1", ProxyServer(.socks4, host: "h", port: 1)),
    ("socks4a://h:1", ProxyServer(.socks4a, host: "h", port: 1)),
    ("socks5://h:1", ProxyServer(.socks5, host: "h", port: 1)),
    ("SOCKS5H://h:1", ProxyServer(.socks5h, host: "h", port: 1)),
    ("socks://h:1", ProxyServer(.socks5h, host: "h", port: 1)),
    ("http://[::1]:3128", ProxyServer(.http, host: "::1", port: 3128)),
    ("http://u@h:1", ProxyServer(.http, host: "h", port: 1, user: "u")),
    ("http://u:@h:1", ProxyServer(.http, host: "h", port: 1, user: "u", password: "")),
    ("http://u:p%40%3a%zz@h:1", ProxyServer(.http, host: "h", port: 1, user: "u", password: "p@:%zz")),
    ("u:p@ss@h:1", ProxyServer(.http, host: "h", port: 1, user: "u", password: "p@ss")),
    ("h:", ProxyServer(.http, host: "h", port: 1080)),
  ])
  func `a URL is read`(text: String, expected: ProxyServer) throws {
    #expect(try ProxyServer(text) == expected)
  }

  @Test(arguments: [
    "", "ftp://h:1", "http://", "http://:80", "http://h:0", "http://h:65536", "http://h:x", "http://h:-1",
    "http://h:1/path", "http://[::1", "http://[]:1", "h h:1", "http://h:1:2", "http://u:secret@h:x",
    "http://h\n:1",
  ])
  func `what can't be read is refused, and no password is shown`(text: String) {
    do throws(HTTPError) {
      Issue.record("\(try ProxyServer(text))")
    } catch {
      #expect(error.kind == .invalidConfiguration)
      #expect(!error.description.contains("secret"))
    }
  }

  @Test func `descriptions hold no credentials`() throws {
    let proxy = try ProxyServer("http://me:secret@[::1]:3128")
    #expect("\(proxy)" == "http://[::1]:3128")
    #expect(!String(reflecting: proxy).contains("secret"))
    var dumped = ""
    dump(proxy, to: &dumped)
    #expect(!dumped.contains("secret") && !dumped.contains("me"))
  }

  @Test func `what goes through a tunnel`() {
    var http = ProxyServer(.http, host: "h", port: 1)
    #expect(http.tunnels(isSecure: true))
    #expect(!http.tunnels(isSecure: false))
    http.tunnelsAlways = true
    #expect(http.tunnels(isSecure: false))
    #expect(ProxyServer(.socks5, host: "h", port: 1).tunnels(isSecure: false))
  }
}
