import StreamCore
import Testing

@Suite struct RedactionTests {
  @Test(arguments: [
    ("https://user:pw@host/p", "https://…@host/p"),
    ("https://us@er:p@w@host:1/p@q?a=b", "https://…@host:1/p@q?a=b"),
    ("https://host/?a=1&access_token=xyz&b=2#f", "https://host/?a=1&access_token=…&b=2#f"),
    ("https://host/?TOKEN=xyz", "https://host/?TOKEN=…"),
    ("https://host?sig=x&sig=y&sig", "https://host?sig=…&sig=…&sig"),
    ("https://host/?token=a=b=c", "https://host/?token=…"),
    ("https://host/plain", "https://host/plain"),
    ("host/?key=v", "host/?key=…"),
    ("user:pw@host/p", "…@host/p"),
    ("user:pw@host", "…@host"),
    ("http:user:pw@host/", "…@host/"),
    ("https:/user:pw@host/", "https:/…@host/"),
    ("//user:pw@host/p", "//…@host/p"),
    ("https://host/?%74oken=xyz", "https://host/?%74oken=…"),
    ("https://host/?to%6ben=xyz&a=%zz", "https://host/?to%6ben=…&a=%zz"),
    ("https://host/?a=1;token=xyz", "https://host/?a=1;token=…"),
    ("https://host/cb#access_token=xyz&state=1", "https://host/cb#access_token=…&state=1"),
    ("https://host/cb#section", "https://host/cb#section"),
    ("https://user:p/w@host/x?key=1", "https://…@host/x?key=…"),
    ("https://user:p?w#x@host/", "https://…@host/"),
    ("https://host:8080/p@q", "https://host:8080/p@q"),
    ("https://[::1]:80/a:b@c", "https://[::1]:80/a:b@c"),
    ("https://host/?\u{301}token=xyz&\u{301}x", "https://host/?\u{301}token=xyz&\u{301}x"),
    ("", ""), ("?", "?"), ("://", "://"), ("://@", "://…@"), ("?&&=&", "?&&=&"), ("#?token=x", "#?token=…"),
  ])
  func secretsAreCutFromAnyText(_ text: String, _ expected: String) {
    #expect(Redaction.url(text) == expected)
  }

  @Test(arguments: [
    ("https://u:p@h/?token=1", "https://…@h/?token=1"), ("http://u@h", "http://…@h"),
    ("http://h/a@b?c=d@e", "http://h/a@b?c=d@e"), ("http://h/?key=1", "http://h/?key=1"),
  ])
  func `user info alone is cut where the query tells URLs apart`(_ text: String, _ expected: String) {
    #expect(Redaction.userInfo(text) == expected)
  }

  @Test func aBackslashDoesNotHideUserInfo() {
    #expect(!Redaction.url("https:\\\\user:s3cret@host\\").contains("s3cret"))
  }

  @Test func redactingTwiceChangesNothing() {
    let once = Redaction.url("https://u:p@h/?token=1&x=2#code=3")
    #expect(Redaction.url(once) == once)
  }

  @Test func garbageNeverTraps() {
    let alphabet = Array(":/@?#&=%;\\ét\u{0}token\u{301}\u{1F680}")
    for _ in 0..<3000 {
      let text = String((0..<Int.random(in: 0...20)).map { _ in alphabet.randomElement() ?? "x" })
      _ = Redaction.url(text)
    }
  }

  @Test func fieldNamesAreComparedWithoutCase() {
    for name in ["Authorization", "PROXY-AUTHORIZATION", "cookie", "Set-Cookie", "X-Api-Key"] {
      #expect(Redaction.isSecretField(name))
    }
    #expect(!Redaction.isSecretField("Accept"))
    #expect(!Redaction.isSecretField(""))
  }

  @Test func `names that credentials are given for count as secret`() {
    #expect(Redaction.url("http://h/?odd_name_1=v&a=b") == "http://h/?odd_name_1=v&a=b")
    Redaction.markQueryName("Odd_Name_1")
    Redaction.markField("X-Odd-Field-1")
    #expect(Redaction.url("http://h/?odd_name_1=v&a=b") == "http://h/?odd_name_1=…&a=b")
    #expect(Redaction.isSecretField("x-odd-field-1"))
    #expect(!Redaction.isSecretField("x-odd-field-2"))
    let fields: HTTPFields = ["X-Odd-Field-1": "v", "X-Other": "w"]
    #expect(fields.description == "X-Odd-Field-1: …\nX-Other: w")
  }
}
