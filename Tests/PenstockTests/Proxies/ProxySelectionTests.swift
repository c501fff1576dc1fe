import StreamCore
import Testing

@testable import Penstock

struct ProxySelectionTests {
  private func selection(_ variables: [String: String], _ policy: ProxyPolicy = .environment)
    -> ProxySelection
  {
    ProxySelection(policy) { variables[$0] }
  }

  private func host(_ selection: ProxySelection, _ url: String) throws -> String? {
    try selection.proxy(for: url)?.host
  }

  @Test func `the environment says which proxy`() throws {
    let each = selection(["http_proxy": "http://h:1", "https_proxy": "s:2"])
    #expect(try host(each, "http://a/") == "h")
    #expect(try host(each, "https://a/") == "s")
    let all = selection(["all_proxy": "socks5h://all:1", "HTTPS_PROXY": "big:1"])
    #expect(try host(all, "http://a/") == "all")
    #expect(try host(all, "https://a/") == "big")
    #expect(selection([:]).isDirect)
    #expect(selection(["http_proxy": ""]).isDirect)
  }

  @Test func `HTTP_PROXY in capitals is a request's field and not heeded`() {
    #expect(selection(["HTTP_PROXY": "h:1"]).isDirect)
  }

  @Test func `no_proxy and its replacement`() throws {
    let variables = ["http_proxy": "h:1", "no_proxy": "one.test, two.test"]
    #expect(try host(selection(variables), "http://one.test/") == nil)
    #expect(try host(selection(variables), "http://three.test/") == "h")
    let replaced = selection(variables, .environmentExcept(["three.test"]))
    #expect(try host(replaced, "http://one.test/") == "h")
    #expect(try host(replaced, "http://three.test/") == nil)
    #expect(selection(variables, .direct).isDirect)
  }

  @Test func `a variable that can't be read is an error of the requests that it is for`() throws {
    let bad = selection([
      "http_proxy": "http://u:secret@h:x", "https_proxy": "good:1", "no_proxy": "skip.test",
    ])
    #expect(try host(bad, "https://a/") == "good")
    #expect(try host(bad, "http://skip.test/") == nil)
    do throws(HTTPError) {
      _ = try bad.proxy(for: "http://a/")
      Issue.record("taken")
    } catch {
      #expect(error.kind == .invalidConfiguration)
      #expect(!error.description.contains("secret"))
    }
  }

  @Test func `an explicit proxy with its own exceptions`() throws {
    let proxy = ProxyServer(.socks5h, host: "p", port: 1)
    let chosen = selection(["no_proxy": "*"], .through(proxy, except: [".internal", "10.0.0.0/8"]))
    #expect(try chosen.proxy(for: "http://a.test/") == proxy)
    #expect(try chosen.proxy(for: "https://a.internal/") == nil)
    #expect(try chosen.proxy(for: "https://10.9.8.7/") == nil)
    #expect(try chosen.proxy(for: "no url at all") == nil)
  }
}

struct NoProxyRuleTests {
  @Test(arguments: [
    ("*", "any.test", 80), ("a.test", "a.test", 80), ("a.test", "x.a.test", 80), (".a.test", "a.test", 80),
    (".a.test", "x.a.test", 80), ("*.a.test", "x.a.test", 80), ("A.Test.", "a.test", 80),
    ("a.test", "a.test.", 80),
    ("a.test:81", "x.a.test", 81), ("127.0.0.1", "127.0.0.1", 80), ("10.0.0.0/8", "10.255.1.2", 80),
    ("192.168.1.128/25", "192.168.1.200", 80), ("0.0.0.0/0", "9.9.9.9", 80), ("[::1]", "[::1]", 80),
    ("::1", "[::1]", 80), ("fd00::/8", "[fdab::1]", 80), ("[::1]:8080", "[::1]", 8080),
    ("127.0.0.1:8080", "127.0.0.1", 8080),
  ])
  func `a rule fits`(rule: String, host: String, port: UInt16) {
    #expect(NoProxyRule(rule)?.fits(host: host, port: port) == true)
  }

  @Test(arguments: [
    ("a.test", "ba.test", 80), ("a.test", "a.test.other", 80), ("a.test:81", "a.test", 80),
    ("127.0.0.1", "127.0.0.2", 80), ("10.0.0.0/8", "11.0.0.1", 80), ("192.168.1.128/25", "192.168.1.100", 80),
    ("::1", "127.0.0.1", 80), ("fd00::/8", "[fe00::1]", 80), ("10.0.0.0/8", "ten.test", 80),
    ("x.a.test", "a.test", 80),
  ])
  func `a rule doesn't fit`(rule: String, host: String, port: UInt16) {
    #expect(NoProxyRule(rule)?.fits(host: host, port: port) == false)
  }

  @Test(arguments: ["", ".", "10.0.0.0/33", "::/129", "10.0.0.0/x", "a.test:99999"])
  func `a rule that is none`(
    rule: String
  ) {
    #expect(NoProxyRule(rule) == nil)
  }

  @Test func `lists are cut at commas and blanks`() {
    #expect(NoProxyRule.list(" a,b  c\t,, d ").count == 4)
  }
}
