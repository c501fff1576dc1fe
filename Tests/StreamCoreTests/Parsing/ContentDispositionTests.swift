import StreamCore
import TestSupport
import Testing

@Suite struct ContentDispositionTests {
  /// The examples of RFC 6266 §5 and RFC 8187 §3.2.3 first, then what servers send.
  @Test(
    arguments: [
      ("Attachment; filename=example.html", "example.html"),
      ("INLINE; FILENAME= \"an example.html\"", "an example.html"),
      ("attachment; filename*= UTF-8''%e2%82%ac%20rates", "€ rates"),
      ("attachment; filename=\"EURO rates\"; filename*=utf-8''%e2%82%ac%20rates", "€ rates"),
      ("attachment; filename*=utf-8''%e2%82%ac%20rates; filename=\"EURO rates\"", "€ rates"),
      ("attachment; filename*=iso-8859-1'en'%A3%20rates", "£ rates"),
      ("attachment; filename*=UTF-8''%c2%a3%20and%20%e2%82%ac%20rates", "£ and € rates"),
      ("attachment; filename=\"a \\\"quoted\\\" one\"", "a \"quoted\" one"),
      ("attachment; filename=\"semi;colon.txt\"; size=3", "semi;colon.txt"),
      ("attachment;filename=a.txt", "a.txt"),
      ("attachment; filename = spaced.txt ; x=y", "spaced.txt"),
      ("attachment; filename=\"without an end", "without an end"),
      ("attachment; size=3; flag; filename=late.txt", "late.txt"),
      ("attachment; filename=one; filename=two", "one"),
      ("attachment; filename=\"50%25.txt\"", "50%25.txt"),
      ("attachment; filename=\"naïve.txt\"", "naïve.txt"),
      // A quote with a combining mark behind it is still a quote.
      ("attachment; filename=\"\u{301}a\"; x=y", "\u{301}a"),
    ])
  func `a name is read`(field: String, name: String) {
    #expect(ContentDisposition.fileName(field) == name)
  }

  @Test(
    arguments: [
      "attachment; filename*=UTF-8''%zz; filename=plain.txt",
      "attachment; filename*=UTF-8''%e2%82; filename=plain.txt",
      "attachment; filename*=UTF-8''%e; filename=plain.txt",
      "attachment; filename*=koi8-r''abc; filename=plain.txt",
      "attachment; filename*=nothing; filename=plain.txt",
    ])
  func `an extended name that can't be read gives way to the plain one`(field: String) {
    #expect(ContentDisposition.fileName(field) == "plain.txt")
  }

  @Test(
    arguments: [
      "", ";", ";;;=", "attachment", "attachment; size=3", "filename=a.txt", "attachment; filename",
      "attachment; filename*=UTF-8''%ff", "attachment; =a.txt", "\"\"; \"",
    ])
  func `a field without a name has none`(field: String) {
    #expect(ContentDisposition.fileName(field) == nil)
  }

  @Test func `no bytes make the parser fail`() {
    var generator = SeededGenerator(seed: 10)
    let pieces = [
      ";", "=", "\"", "\\", "'", "%", "filename", "*", "UTF-8", " ", "a", "%41", "\u{301}", "é", "\r\n",
    ]
    for _ in 0..<2000 {
      let count = Int.random(in: 0..<14, using: &generator)
      let tail = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
      _ = ContentDisposition.fileName(tail)
      _ = ContentDisposition.fileName("attachment;" + tail)
    }
  }

  @Test func `percent-encoding that isn't proper stays`() {
    #expect(ContentDisposition.percentDecoded("a%20b") == "a b")
    #expect(ContentDisposition.percentDecoded("100%") == "100%")
    #expect(ContentDisposition.percentDecoded("%ff") == "%ff")
  }
}
