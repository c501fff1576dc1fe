import StreamCore
import TestSupport
import Testing

struct StrictTransportSecurityTests {
  @Test(arguments: [
    ("max-age=31536000", 31_536_000, false), ("max-age=0", 0, false), ("Max-Age = \"15\"", 15, false),
    ("max-age=15; includeSubDomains", 15, true), ("INCLUDESUBDOMAINS;max-age=15", 15, true),
    (" ; max-age=1;; preload ; includeSubDomains;", 1, true), ("max-age=1; x=\"a;b\\\"c\"", 1, false),
    ("max-age=99999999999999999999999", Int64.max, false),
  ])
  func `a field is read`(text: String, age: Int64, includes: Bool) {
    let field = StrictTransportSecurity(text)
    #expect(field?.maximumAge == age)
    #expect(field?.includesSubdomains == includes)
  }

  @Test(arguments: [
    "", "includeSubDomains", "max-age", "max-age=", "max-age=-1", "max-age=1 2", "max-age=1, max-age=2",
    "max-age=1; max-age=1", "max-age=1; includeSubDomains; includeSubDomains",
    "max-age=1; includeSubDomains=1",
    "max-age=\"1", "max-age=1x", "=1; max-age=1", "max-age=\"1\\",
  ])
  func `a damaged field is ignored`(text: String) {
    #expect(StrictTransportSecurity(text) == nil)
  }

  @Test func `any text is taken`() {
    var random = SeededGenerator(seed: 7)
    let alphabet = Array("max-age=0123;\" \\,includeSubDomains\u{0}é".unicodeScalars)
    for _ in 0..<5000 {
      let text = String(
        String.UnicodeScalarView(
          (0..<Int.random(in: 0..<40, using: &random)).map { _ in
            alphabet.randomElement(using: &random) ?? ";"
          }))
      if let field = StrictTransportSecurity(text) { #expect(field.maximumAge >= 0) }
    }
  }
}
