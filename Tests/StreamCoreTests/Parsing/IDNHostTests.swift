import StreamCore
import Testing

struct IDNHostTests {
  @Test(arguments: [
    ("plain.test", "plain.test"), ("bücher.test", "xn--bcher-kva.test"),
    ("BÜCHER.test", "xn--bcher-kva.test"),
    ("bu\u{308}cher.test", "xn--bcher-kva.test"), ("faß.de", "xn--fa-hia.de"),
    ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
    ("例え。テスト", "xn--r8jz45g.xn--zckzah"), ("пример.рф", "xn--e1afmkfd.xn--p1ai"),
    ("www.åäö.se.", "www.xn--4cab6c.se."), ("مثال.إختبار", "xn--mgbh0fb.xn--kgbechtv"),
    ("한국.test", "xn--3e0b707e.test"),
  ])
  func `a name in ASCII`(host: String, expected: String) {
    #expect(IDNHost.ascii(host) == expected)
  }

  @Test(arguments: [
    "😀.test", "a b\u{FC}.test", "\u{300}a.test", "ü\u{202E}.test", String(repeating: "ü", count: 300),
  ])
  func `a name that none can have`(host: String) {
    #expect(IDNHost.ascii(host) == nil)
  }
}
