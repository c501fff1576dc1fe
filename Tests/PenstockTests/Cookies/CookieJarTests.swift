import StreamCore
import Synchronization
import TestSupport
import Testing

@testable import Penstock

@Suite struct CookieJarTests {
  private final class TestClock: Sendable {
    private let seconds = Atomic<Int64>(1000)
    var now: Int64 { seconds.load(ordering: .relaxed) }
    func advance(_ by: Int64) { seconds.add(by, ordering: .relaxed) }
  }

  private func line(_ name: String, _ value: String, domain: String = "h.example", expires: Int64 = 0)
    -> String
  {
    "\(domain)\t\(domain.hasPrefix(".") ? "TRUE" : "FALSE")\t/\tFALSE\t\(expires)\t\(name)\t\(value)"
  }

  @Test func `a cookie goes to its host alone, a domain's to all below`() throws {
    let jar = CookieJar()
    try jar.set(Cookie("a", "1", domain: "example.org"))
    try jar.set(Cookie("b", "2", domain: ".Example.org", includesSubdomains: true))
    let here = try jar.cookies(for: "http://example.org/x").map(\.name)
    #expect(here == ["a", "b"])
    let below = try jar.cookies(for: "http://www.example.org/").map(\.name)
    #expect(below == ["b"])
    let other = try jar.cookies(for: "http://notexample.org/")
    #expect(other.isEmpty)
    #expect(jar.lines(for: "www.example.org").count == 1)
    #expect(jar.lines(for: "org").isEmpty)
  }

  @Test(arguments: [
    ("/", "/", true), ("/a", "/a", true), ("/a", "/a/b", true), ("/a/", "/a/b", true), ("/a", "/ab", false),
    ("/a/", "/a", false), ("/a/b", "/a", false),
  ])
  func `the path matches by whole parts`(_ path: String, _ requested: String, _ matches: Bool) {
    let cookie = Cookie("a", "1", domain: "h", path: path)
    #expect(cookie.matches(host: "h", path: requested, isSecure: false) == matches)
  }

  @Test func `a secure cookie stays on https`() throws {
    let jar = CookieJar()
    try jar.set(Cookie("s", "1", domain: "h.example", isSecure: true))
    let plain = try jar.cookies(for: "http://h.example/")
    let secure = try jar.cookies(for: "https://h.example/")
    #expect(plain.isEmpty && secure.count == 1)
  }

  @Test func `a later cookie takes the place of an earlier one, an expired one takes it away`() throws {
    let clock = TestClock()
    let jar = CookieJar(file: nil) { clock.now }
    try jar.set(Cookie("a", "1", domain: "h"))
    try jar.set(Cookie("a", "2", domain: "h", expires: 1500))
    #expect(jar.all.map(\.value) == ["2"])
    try jar.set(Cookie("a", "3", domain: "h", path: "/x"))
    #expect(jar.all.count == 2)
    clock.advance(600)
    #expect(jar.all.map(\.value) == ["3"])
    try jar.set(Cookie("a", "3", domain: "h", path: "/x", expires: 1))
    #expect(jar.all.isEmpty)
  }

  @Test func `cookies are edited`() throws {
    let jar = CookieJar()
    for (name, domain) in [("a", "x"), ("b", "x"), ("c", "y")] {
      try jar.set(Cookie(name, "1", domain: domain))
    }
    try jar.set(Cookie("d", "1", domain: "y", expires: .max))
    jar.remove(Cookie("a", "whatever", domain: "x"))
    #expect(jar.all.map(\.name) == ["b", "c", "d"])
    jar.removeAll(domain: "X")
    #expect(jar.all.map(\.name) == ["c", "d"])
    jar.removeSessionCookies()
    #expect(jar.all.map(\.name) == ["d"])
    jar.removeAll()
    #expect(jar.all.isEmpty)
  }

  @Test(arguments: [
    Cookie("", "1", domain: "h"), Cookie("a b", "1", domain: "h"), Cookie("a", "1;2", domain: "h"),
    Cookie("a", "1\n", domain: "h"), Cookie("a", "1", domain: ""), Cookie("a", "1", domain: "h", path: "x"),
    Cookie("a", String(repeating: "x", count: 5000), domain: "h"), Cookie("a\t", "1", domain: "h"),
  ])
  func `what can't be sent is refused`(_ cookie: Cookie) {
    let jar = CookieJar()
    #expect(throws: HTTPError(.invalidHeader, phase: .queue, message: "")) { try jar.set(cookie) }
    #expect(jar.all.isEmpty)
  }

  @Test func `values are never in a description`() {
    let cookie = Cookie("sid", "hush", domain: "h")
    #expect(!"\(cookie)".contains("hush"))
    #expect(!String(reflecting: cookie).contains("hush"))
  }

  @Test(arguments: [
    Cookie("a", "1", domain: "h.example"), Cookie("a", "", domain: "h.example", expires: 99),
    Cookie("a", "x y\"z", domain: "h.example", includesSubdomains: true, path: "/p q", isSecure: true),
    Cookie("a", "1=2", domain: "h.example", isHTTPOnly: true),
  ])
  func `a line of a file says all of a cookie`(_ cookie: Cookie) {
    #expect(Cookie(netscapeLine: cookie.netscapeLine) == cookie)
    #expect(Cookie(netscapeLine: cookie.netscapeLine + "\r\n") == cookie)
  }

  @Test(arguments: ["", "# comment", "a\tb", "h\tFALSE\t/\tFALSE\tsoon\ta\t1", "h\tFALSE\tx\tFALSE\t0\ta\t1"])
  func `other lines are passed over`(_ line: String) { #expect(Cookie(netscapeLine: line) == nil) }

  @Test func `every cut of a line is a cookie or nothing`() {
    let line = Cookie("name", "value", domain: "h.example", isHTTPOnly: true, expires: 12).netscapeLine
    for end in line.indices { _ = Cookie(netscapeLine: line[..<end]) }
  }

  @Test func `what comes back unchanged doesn't undo what another exchange did meanwhile`() throws {
    let jar = CookieJar()
    try jar.set(Cookie("a", "1", domain: "h.example"))
    try jar.set(Cookie("b", "1", domain: "h.example"))
    let lent = jar.lines(for: "h.example")
    // Another exchange changes one and takes the other away.
    jar.merge([line("a", "2")], lent: lent)
    #expect(jar.all.map(\.value) == ["2"])
    jar.merge(lent, lent: lent)
    #expect(jar.all.map(\.value) == ["2"])
    // One that is taken away here was changed there: it stays.
    jar.merge([], lent: lent)
    #expect(jar.all.map(\.value) == ["2"])
  }

  @Test func `the number is bounded, the oldest go`() throws {
    let jar = CookieJar()
    for index in 0..<(CookieJar.mostPerDomain + 10) { try jar.set(Cookie("c\(index)", "1", domain: "h")) }
    #expect(jar.all.count == CookieJar.mostPerDomain)
    #expect(jar.all.first?.name == "c10")
    for domain in 0..<60 {
      for index in 0..<200 { try jar.set(Cookie("c\(index)", "1", domain: "d\(domain)")) }
    }
    #expect(jar.all.count <= CookieJar.most)
    #expect(jar.all.contains { $0.domain == "d59" && $0.name == "c199" })
  }

  @Test func `random merges end as a model does`() {
    var random = SeededGenerator(seed: 7)
    let jar = CookieJar()
    var model: [String: String] = [:]
    for _ in 0..<500 {
      let lent = jar.lines(for: "h.example")
      var now = model
      for _ in 0..<random.next(below: 4) {
        let name = "c\(random.next(below: 12))"
        if random.next(below: 3) == 0 { now[name] = nil } else { now[name] = "v\(random.next(below: 5))" }
      }
      jar.merge(now.map { line($0.key, $0.value) }, lent: lent)
      model = now
      #expect(Dictionary(uniqueKeysWithValues: jar.all.map { ($0.name, $0.value) }) == model)
    }
  }

  @Test func `a file is read, and written by itself`() async throws {
    let folder = try TestFolder()
    folder.write(
      "# Netscape HTTP Cookie File\n\n#HttpOnly_.h.example\tTRUE\t/\tFALSE\t0\ta\t1\nrubbish\n", to: "jar")
    let jar = try CookieJar(file: folder("jar"))
    #expect(jar.all == [Cookie("a", "1", domain: "h.example", includesSubdomains: true, isHTTPOnly: true)])
    try jar.set(Cookie("b", "2", domain: "x.example"))
    try await jar.save()
    let again = try CookieJar(file: folder("jar"))
    #expect(again.all.map(\.name) == ["a", "b"])
    #expect(folder.names == ["jar"])
    let copy = CookieJar()
    try copy.load(folder("jar"))
    #expect(copy.all == jar.all)
  }

  @Test func `files that can't be read or written say so`() async throws {
    let folder = try TestFolder()
    #expect(throws: HTTPError(.readFailed, phase: .file, message: "")) { try CookieJar(file: folder.path) }
    let jar = CookieJar()
    #expect(throws: HTTPError(.readFailed, phase: .file, message: "")) { try jar.load(folder("none")) }
    await #expect(throws: HTTPError(.writeFailed, phase: .file, message: "")) {
      try await jar.save(to: folder("none/jar"))
    }
    let new = try CookieJar(file: folder("new"))
    #expect(new.all.isEmpty)
  }
}
