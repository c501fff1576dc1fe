import Testing

@testable import Penstock

@Suite struct RobotsRulesTests {
  private func rules(_ text: String, agent: String = "penstock") -> RobotsRules {
    RobotsRules(Array(text.utf8), agent: agent)
  }

  @Test func `without a group that fits everything is allowed`() {
    #expect(rules("").allows(path: "/x"))
    #expect(rules("User-agent: other\nDisallow: /").allows(path: "/x"))
    #expect(rules("Disallow: /").allows(path: "/x"), "rules before any group belong to nobody")
  }

  @Test func `the group of the robot goes before that for all`() {
    let text = "User-agent: *\nDisallow: /\n\nUser-Agent: PenStock/2.1\nDisallow: /private\n"
    #expect(rules(text).allows(path: "/x"))
    #expect(!rules(text).allows(path: "/private/x"))
    #expect(!rules(text, agent: "another").allows(path: "/x"))
  }

  @Test func `groups of one agent are joined, and agents may share one`() {
    let text = """
      user-agent: a
      user-agent: penstock
      disallow: /one
      sitemap: http://h/map
      disallow: /two
      user-agent: b
      disallow: /b
      user-agent: penstock
      disallow: /three
      """
    for path in ["/one", "/two", "/three"] { #expect(!rules(text).allows(path: path)) }
    #expect(rules(text).allows(path: "/b"))
  }

  @Test func `the longest match decides, and allow wins a tie`() {
    let text =
      "User-agent: *\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\nDisallow: /example/"
    #expect(rules(text).allows(path: "/example/page/x"))
    #expect(!rules(text).allows(path: "/example/page/disallowed.gif"))
    #expect(!rules(text).allows(path: "/example/y"))
    #expect(rules("User-agent: *\nDisallow: /page\nAllow: /page").allows(path: "/page"))
    #expect(rules("User-agent: *\nDisallow: /page\nDisallow:").allows(path: "/other"))
  }

  @Test func `stars and the end sign`() {
    let text = "User-agent: *\nDisallow: /*.gif$\nDisallow: /a/*/c\nDisallow: /exact$"
    #expect(!rules(text).allows(path: "/x/y.gif"))
    #expect(rules(text).allows(path: "/x/y.gif?a"))
    #expect(!rules(text).allows(path: "/a/b/b/cde"))
    #expect(rules(text).allows(path: "/a/c"))
    #expect(!rules(text).allows(path: "/exact"))
    #expect(rules(text).allows(path: "/exactly"))
    let many = "User-agent: *\nDisallow: /" + String(repeating: "*a", count: 200) + "$"
    #expect(rules(many).allows(path: "/" + String(repeating: "a", count: 2000) + "b"))
  }

  @Test func `spellings of one path are one path`() {
    let text = "User-agent: *\nDisallow: /foo/bar/ツ\nDisallow: /a%62c\nDisallow: /x%2fy"
    #expect(!rules(text).allows(path: "/foo/bar/%E3%83%84"))
    #expect(!rules(text).allows(path: "/foo/bar/%e3%83%84"))
    #expect(!rules(text).allows(path: "/abc"))
    #expect(!rules(text).allows(path: "/x%2Fy"))
    #expect(rules(text).allows(path: "/x/y"))
  }

  @Test(arguments: ["\n", "\r", "\r\n"]) func `line ends, comments, blanks and a byte order mark`(end: String)
  {
    let text = "\u{FEFF}# hello\(end)  User-agent \t: * # all\(end)\(end)Disallow:/x # no\(end)nonsense\(end)"
    #expect(!rules(text).allows(path: "/x"))
    #expect(rules(text).allows(path: "/y"))
  }

  @Test func `robots txt itself is always allowed`() {
    #expect(rules("User-agent: *\nDisallow: /").allows(path: "/robots.txt"))
    #expect(RobotsRules.forbiddingAll.allows(path: "/robots.txt"))
    #expect(!RobotsRules.forbiddingAll.allows(path: "/"))
    #expect(RobotsRules.allowingAll.allows(path: "/"))
  }

  @Test func `crawl delays are those of the robot's group`() {
    #expect(rules("User-agent: *\nCrawl-delay: 2.5").crawlDelay == .milliseconds(2500))
    #expect(rules("User-agent: *\nCrawl-delay: 2\nUser-agent: penstock\nDisallow: /x").crawlDelay == nil)
    #expect(rules("User-agent: *\nCrawl-delay: nan").crawlDelay == nil)
    #expect(rules("User-agent: *\nCrawl-delay: -1").crawlDelay == nil)
  }

  @Test func `origin and path of a URL`() {
    let parts = RobotsGate.parts(of: "http://u:p@Host:81/a/b?c#d")
    #expect(parts?.origin == "http://host:81")
    #expect(parts?.path == "/a/b?c")
    #expect(RobotsGate.parts(of: "https://h")?.path == "/")
    #expect(RobotsGate.parts(of: "https://h?q")?.path == "/?q")
    #expect(RobotsGate.parts(of: "nothing") == nil)
  }
}
