import Testing

@testable import PenstockCLI

@Suite struct ValueTests {
  @Test(arguments: [
    ("1", Settings.TimeLimit.after(.seconds(1))), ("0.5", .after(.milliseconds(500))),
    (".25", .after(.milliseconds(250))), ("2.", .after(.seconds(2))), ("0", .unlimited),
    ("0.000", .unlimited),
    ("0.0000000001", .after(.milliseconds(1))), ("0.0001", .after(.milliseconds(1))),
    ("1.123456789123", .after(.nanoseconds(1_123_456_789))), ("1000000000", .after(.seconds(1_000_000_000))),
    ("007", .after(.seconds(7))),
  ])
  func seconds(text: String, expected: Settings.TimeLimit) throws {
    #expect(try SecondsValue.parse(text) == expected)
  }

  @Test(arguments: [
    "", ".", "-1", "-0", "+1", "1e3", "0x1", "inf", "nan", "1,5", "1 ", " 1", "1.2.3", "1000000001",
    "99999999999999999999", "١",
  ])
  func not_seconds(text: String) {
    #expect(throws: UsageError.self) { try SecondsValue.parse(text) }
  }

  @Test(arguments: [
    ("0", Int64(0)), ("1", 1), ("1k", 1024), ("1K", 1024), ("3M", 3 << 20), ("2g", 2 << 30),
    ("9223372036854775807", .max), ("8589934591G", 8_589_934_591 << 30),
  ])
  func sizes(text: String, expected: Int64) throws {
    #expect(try ByteCountValue.parse(text) == expected)
  }

  @Test(arguments: [
    "", "k", "-1", "1.5M", "1kb", "1 k", "0x10", "9223372036854775808", "8589934592G", "١", "1T",
  ])
  func not_sizes(text: String) {
    #expect(throws: UsageError.self) { try ByteCountValue.parse(text) }
  }

  @Test func text_of_the_user_is_fit_for_one_line() {
    #expect(UsageError.quote("a\nb\u{1B}[0m") == "'a\\u{a}b\\u{1b}[0m'")
    #expect(UsageError.quote(String(repeating: "x", count: 100)).count == 65)
  }

  @Test func nearest_words() {
    #expect(NearestWord.nearest(to: "evnts", among: ["get", "events"]) == "events")
    #expect(NearestWord.nearest(to: "x", among: ["y"]) == nil)
    #expect(NearestWord.nearest(to: "abcdef", among: ["uvwxyz"]) == nil)
    #expect(NearestWord.distance(Array("ab".unicodeScalars), Array("ba".unicodeScalars)) == 1)
    #expect(NearestWord.distance([], Array("ba".unicodeScalars)) == 2)
  }

  @Test func the_line_of_versions_names_all_components() {
    let line = VersionText.line
    #expect(line.hasPrefix("penstock "))
    for name in ["libcurl/", "OpenSSL/", "zlib/", "HTTP/1.1", "HTTP/2"] { #expect(line.contains(name)) }
    #expect(line.hasSuffix("\n") && line.count { $0 == "\n" } == 1)
  }
}
