import StreamCore
import Testing

@Suite struct HTTPDateTests {
  static let example: Int64 = 784_111_777

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "sun, 06 NOV 1994 08:49:37 gmt",
  ])
  func allThreeFormsAreRead(_ text: String) {
    #expect(HTTPDate(text)?.secondsSinceEpoch == Self.example)
  }

  @Test func theFirstFormIsWritten() {
    #expect(HTTPDate(secondsSinceEpoch: Self.example).description == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate(secondsSinceEpoch: 0).description == "Thu, 01 Jan 1970 00:00:00 GMT")
    #expect(HTTPDate(secondsSinceEpoch: -1).description == "Wed, 31 Dec 1969 23:59:59 GMT")
  }

  @Test func writingAndReadingAgreeOverFourCenturies() {
    for day in stride(from: -25_567, through: 135_140, by: 7) {
      let date = HTTPDate(secondsSinceEpoch: Int64(day) * 86_400 + Int64(abs(day) % 86_400))
      guard HTTPDate(date.description) == date else {
        Issue.record("\(date) for day \(day)")
        return
      }
    }
  }

  @Test func timesBeyondAllYearsDoNotTrap() {
    for seconds in [Int64.min, .max, .min / 2, .max / 2, -62_167_219_201, 253_402_300_800] {
      _ = HTTPDate(secondsSinceEpoch: seconds).description
      _ = HTTPDate("Friday, 01-Jan-77 00:00:00 GMT", now: HTTPDate(secondsSinceEpoch: seconds))
    }
  }

  @Test func leapDaysExistInLeapYearsAlone() {
    #expect(HTTPDate("Thu, 29 Feb 2024 00:00:00 GMT")?.secondsSinceEpoch == 1_709_164_800)
    #expect(HTTPDate("Tue, 29 Feb 2000 00:00:00 GMT") != nil)
    #expect(HTTPDate("Mon, 29 Feb 2100 00:00:00 GMT") == nil)
    #expect(HTTPDate("Wed, 29 Feb 2023 00:00:00 GMT") == nil)
  }

  @Test func aLeapSecondIsTheNextSecond() {
    #expect(HTTPDate("Sat, 31 Dec 2016 23:59:60 GMT") == HTTPDate("Sun, 01 Jan 2017 00:00:00 GMT"))
  }

  @Test func twoDigitYearsAreNearNow() {
    let now = HTTPDate("Mon, 30 Nov 2026 00:00:00 GMT")
    for (short, full) in [("27", "2027"), ("76", "2076"), ("77", "1977"), ("00", "2000")] {
      let date = HTTPDate("Friday, 01-Jan-\(short) 00:00:00 GMT", now: now)
      #expect(date?.description.contains(" \(full) ") == true)
    }
    let late = HTTPDate("Thu, 01 Jan 2099 00:00:00 GMT")
    #expect(HTTPDate("Friday, 01-Jan-01 00:00:00 GMT", now: late)?.description.contains(" 2101 ") == true)
    #expect(HTTPDate("Friday, 01-Jan-69 00:00:00 GMT")?.description.contains(" 2069 ") == true)
  }

  @Test(arguments: [
    "", " ", ",", "0", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
    "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 19944 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 -8:49:37 GMT", "Xxx, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 06 08:49:37 94",
    "Sun Nov 006 08:49:37 1994", "Sun, 06 Nov ١٩٩٤ 08:49:37 GMT", "2026-11-30T06:47:38Z",
  ])
  func anythingElseIsNoDate(_ text: String) { #expect(HTTPDate(text) == nil) }
}

@Suite struct RetryAfterTests {
  let now = HTTPDate(secondsSinceEpoch: HTTPDateTests.example)

  @Test func secondsAndDatesAreRead() {
    #expect(RetryAfter("120")?.seconds(from: now) == 120)
    #expect(RetryAfter(" 0\t")?.seconds(from: now) == 0)
    #expect(RetryAfter("Sun, 06 Nov 1994 08:50:37 GMT")?.seconds(from: now) == 60)
  }

  @Test func aDateInThePastIsNow() {
    #expect(RetryAfter("Sun, 06 Nov 1994 08:00:00 GMT")?.seconds(from: now) == 0)
    #expect(RetryAfter.date(HTTPDate(secondsSinceEpoch: .min)).seconds(from: now) == 0)
    #expect(RetryAfter.date(now).seconds(from: HTTPDate(secondsSinceEpoch: .min)) == .max)
  }

  @Test func moreDigitsThanFitAreForever() {
    #expect(RetryAfter("99999999999999999999999")?.seconds(from: now) == .max)
  }

  @Test(arguments: ["", " ", "-1", "+1", "1.5", "1 2", "soon", "١"])
  func anythingElseIsIgnored(_ text: String) { #expect(RetryAfter(text) == nil) }
}
