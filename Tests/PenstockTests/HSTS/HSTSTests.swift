import StreamCore
import Synchronization
import TestSupport
import Testing

@testable import Penstock

struct HSTSTests {
  private func field(_ text: String) throws -> StrictTransportSecurity {
    try #require(StrictTransportSecurity(text))
  }

  @Test func `a host is known until its time is over, and those below it where it says so`() throws {
    var hosts = HSTSHosts()
    #expect(hosts.learn(try field("max-age=100"), host: "One.test", now: 1000) == .changed)
    #expect(
      hosts.learn(try field("max-age=100; includeSubDomains"), host: "two.test.", now: 1000) == .changed)
    #expect(hosts.covers("one.TEST", now: 1099))
    #expect(!hosts.covers("one.test", now: 1100))
    #expect(!hosts.covers("x.one.test", now: 1001))
    #expect(hosts.covers("a.b.two.test", now: 1001))
    #expect(!hosts.covers("xtwo.test", now: 1001))
    #expect(!hosts.covers("test", now: 1001))
  }

  @Test func `max-age 0 forgets, another field replaces`() throws {
    var hosts = HSTSHosts()
    _ = hosts.learn(try field("max-age=100; includeSubDomains"), host: "h.test", now: 0)
    #expect(hosts.learn(try field("max-age=50"), host: "h.test", now: 0) == .changed)
    #expect(!hosts.covers("x.h.test", now: 1))
    #expect(hosts.learn(try field("max-age=60"), host: "h.test", now: 0) == .prolonged)
    #expect(hosts.learn(try field("max-age=60"), host: "h.test", now: 0) == .none)
    #expect(hosts.learn(try field("max-age=9000000"), host: "h.test", now: 0) == .changed)
    #expect(hosts.learn(try field("max-age=0"), host: "h.test", now: 0) == .changed)
    #expect(hosts.learn(try field("max-age=0"), host: "h.test", now: 0) == .none)
    #expect(!hosts.covers("h.test", now: 0))
  }

  @Test(arguments: ["127.0.0.1", "[::1]"]) func `addresses are never known`(host: String) throws {
    var hosts = HSTSHosts()
    #expect(hosts.learn(try field("max-age=100"), host: host, now: 0) == .none)
    #expect(!hosts.covers(host, now: 0))
  }

  @Test func `the number of hosts is bounded`() throws {
    var hosts = HSTSHosts()
    for number in 0..<(HSTSHosts.most + 5000) {
      _ = hosts.learn(try field("max-age=\(1000 + number)"), host: "h\(number).test", now: 0)
    }
    #expect(hosts.entries.count <= HSTSHosts.most)
    #expect(hosts.covers("h\(HSTSHosts.most + 4999).test", now: 1))
  }

  @Test func `against a model, with random events`() throws {
    var random = SeededGenerator(seed: 11)
    var hosts = HSTSHosts()
    var model: [String: (until: Int64, includes: Bool)] = [:]
    let names = ["a", "b.a", "c.b.a", "d", "e.d"]
    var now: Int64 = 0
    for _ in 0..<5000 {
      now += Int64.random(in: 0..<5, using: &random)
      let name = names.randomElement(using: &random) ?? "a"
      if Bool.random(using: &random) {
        let age = Int64.random(in: 0..<20, using: &random)
        let includes = Bool.random(using: &random)
        let text = "max-age=\(age)" + (includes ? ";includeSubDomains" : "")
        _ = hosts.learn(try field(text), host: name, now: now)
        model[name] = age == 0 ? nil : (now + age, includes)
      }
      let expected = names.contains { known in
        guard let entry = model[known], entry.until > now else { return false }
        return known == name || (entry.includes && name.hasSuffix("." + known))
      }
      #expect(hosts.covers(name, now: now) == expected)
    }
  }

  @Test(arguments: [
    ("http://h.test/x?y#z", "https://h.test/x?y#z"), ("HTTP://u:p@h.test:80/", "https://u:p@h.test:443/"),
    ("http://h.test:8080", "https://h.test:8080"), ("http://h.test?x", "https://h.test?x"),
    ("https://h.test/", "https://h.test/"), ("http://other.test/", "http://other.test/"),
    ("nonsense", "nonsense"),
  ])
  func `a URL becomes https`(url: String, expected: String) {
    let store = HSTSStore()
    store.add("h.test", includesSubdomains: false)
    #expect(store.upgraded(url) == expected)
  }

  @Test func `a field counts over https alone, and only with both checks on`() {
    let store = HSTSStore()
    let head = ResponseHead(
      status: 200, headers: ["Strict-Transport-Security": "max-age=100"])
    store.learn(head, from: "http://h.test/", tls: TLSOptions())
    var lax = TLSOptions()
    lax.verifiesName = false
    store.learn(head, from: "https://h.test/", tls: lax)
    #expect(store.knownHosts.isEmpty)
    store.learn(head, from: "https://h.test/", tls: TLSOptions())
    #expect(store.knownHosts.map(\.name) == ["h.test"])
    store.remove("h.test")
    #expect(store.knownHosts.isEmpty)
  }

  @Test func `a file keeps what was learned`() throws {
    let folder = try TestFolder()
    let path = folder.path + "/hsts.txt"
    let clock: @Sendable () -> Int64 = { 1_800_000_000 }
    let store = try HSTSStore(file: path, now: clock)
    store.add("one.test", includesSubdomains: true, expires: 1_800_000_100)
    store.add("two.test", includesSubdomains: false)
    let again = try HSTSStore(file: path, now: clock)
    #expect(again.knownHosts == store.knownHosts)
    #expect(again.knownHosts.count == 2)
    // Later one of them is over.
    let later = try HSTSStore(file: path, now: { 1_800_000_100 })
    #expect(later.knownHosts.map(\.name) == ["two.test"])
    #expect(throws: HTTPError.self) { try HSTSStore(file: folder.path) }
  }

  @Test func `curl's own file is read, damaged lines are passed over`() {
    let text = """
      # Your HSTS cache. https://curl.se/docs/hsts.html
      .sub.test "20301231 23:59:59"
      plain.test "unlimited"
      old.test "20200101 00:00:00"
      bad.test 20301231
      bad.test "20301332 00:00:00"
      bad.test "2030"

      """
    let hosts = HSTSFile.hosts(text, now: 1_800_000_000)
    #expect(Set(hosts.entries.keys) == ["sub.test", "plain.test"])
    #expect(hosts.entries["sub.test"]?.expires == 1_924_991_999)
    #expect(hosts.covers("x.sub.test", now: 1_800_000_000))
    #expect(HSTSFile.hosts(HSTSFile.text(hosts), now: 1_800_000_000) == hosts)
  }
}
