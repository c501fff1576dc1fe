/// A time of HTTP (RFC 9110 §5.6.7), exact to the second, always GMT.
package struct HTTPDate: Sendable, Hashable, Comparable, CustomStringConvertible {
  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let longWeekdays = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Seconds since 1970-01-01 00:00:00 GMT, leap seconds not counted.
  package let secondsSinceEpoch: Int64

  /// A time by its seconds since 1970.
  package init(secondsSinceEpoch: Int64) { self.secondsSinceEpoch = secondsSinceEpoch }

  /// One of the three forms: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or
  /// `Sun Nov  6 08:49:37 1994`; nil for anything else and for days that don't exist.
  ///
  /// Names are taken in any case, and the name of the day isn't compared with the date. A year of two digits
  /// is taken within the 50 years after `now`, or before; without `now`, 70...99 are in the last century.
  package init?(_ text: String, now: HTTPDate? = nil) {
    guard text.utf8.count <= 40 else { return nil }
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    let parts: (day: Substring, month: Substring, year: Substring, time: Substring)
    var hasShortYear = false
    switch (words.count, words.first?.hasSuffix(",")) {
    case (6, true):
      guard Self.isName(words[0].dropLast(), in: Self.weekdays), words[5].uppercased() == "GMT",
        words[1].utf8.count == 2
      else { return nil }
      parts = (words[1], words[2], words[3], words[4])
    case (4, true):
      let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
      guard Self.isName(words[0].dropLast(), in: Self.longWeekdays), date.count == 3,
        date[2].utf8.count == 2, date[0].utf8.count == 2, words[3].uppercased() == "GMT"
      else { return nil }
      parts = (date[0], date[1], date[2], words[2])
      hasShortYear = true
    case (5, false):
      guard Self.isName(words[0], in: Self.weekdays), words[2].utf8.count <= 2 else { return nil }
      parts = (words[2], words[1], words[4], words[3])
    default: return nil
    }
    guard let day = DecimalDigits.value(parts.day.utf8),
      let month = Self.months.firstIndex(where: { $0.lowercased() == parts.month.lowercased() }),
      let year = DecimalDigits.value(parts.year.utf8), hasShortYear || parts.year.utf8.count == 4,
      let time = Self.time(parts.time)
    else { return nil }
    let fullYear = hasShortYear ? Self.fullYear(year, now: now) : year
    guard day >= 1, day <= Self.days(inMonth: month + 1, of: fullYear) else { return nil }
    secondsSinceEpoch = Self.dayNumber(year: fullYear, month: Int64(month) + 1, day: day) * 86_400 + time
  }

  /// The form to send: `Sun, 06 Nov 1994 08:49:37 GMT`. For the years 0 to 9999.
  package var description: String {
    let day = secondsSinceEpoch.flooredQuotient(86_400)
    let time = secondsSinceEpoch.positiveRemainder(86_400)
    let (year, month, dayOfMonth) = Self.date(ofDayNumber: day)
    let weekday = Int((day + 4).positiveRemainder(7))
    return "\(Self.weekdays[weekday]), \(Self.padded(dayOfMonth, 2)) \(Self.months[Int(month) - 1]) "
      + "\(Self.padded(year, 4)) \(Self.padded(time / 3600, 2)):\(Self.padded(time / 60 % 60, 2)):"
      + "\(Self.padded(time % 60, 2)) GMT"
  }

  /// By time.
  package static func < (left: HTTPDate, right: HTTPDate) -> Bool {
    left.secondsSinceEpoch < right.secondsSinceEpoch
  }

  private static func isName(_ word: Substring, in names: [String]) -> Bool {
    names.contains { $0.lowercased() == word.lowercased() }
  }

  /// `hh:mm:ss` as seconds; a leap second counts as the next second.
  private static func time(_ text: Substring) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy({ $0.utf8.count == 2 }),
      let hour = DecimalDigits.value(parts[0].utf8), let minute = DecimalDigits.value(parts[1].utf8),
      let second = DecimalDigits.value(parts[2].utf8), hour < 24, minute < 60, second <= 60
    else { return nil }
    return hour * 3600 + minute * 60 + second
  }

  private static func fullYear(_ short: Int64, now: HTTPDate?) -> Int64 {
    guard let now else { return short >= 70 ? 1900 + short : 2000 + short }
    let current = date(ofDayNumber: now.secondsSinceEpoch.flooredQuotient(86_400)).year
    let year = current.flooredQuotient(100) * 100 + short
    if year > current + 50 { return year - 100 }
    return year <= current - 50 ? year + 100 : year
  }

  package static func days(inMonth month: Int, of year: Int64) -> Int64 {
    switch month {
    case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Days since 1970-01-01, counted in years that begin in March so that the leap day comes last.
  package static func dayNumber(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month > 2 ? year : year - 1
    let monthFromMarch = (month + 9) % 12
    let leapDays =
      shifted.flooredQuotient(4) - shifted.flooredQuotient(100) + shifted.flooredQuotient(400)
    return shifted * 365 + leapDays + (153 * monthFromMarch + 2) / 5 + day - 1 - 719_468
  }

  package static func date(ofDayNumber number: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let days = number + 719_468
    // 400 years have 146,097 days. The estimate is at most one year off.
    var year = (days * 400).flooredQuotient(146_097)
    while dayNumber(year: year, month: 3, day: 1) > number { year -= 1 }
    while dayNumber(year: year + 1, month: 3, day: 1) <= number { year += 1 }
    let dayOfYear = number - dayNumber(year: year, month: 3, day: 1)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = (monthFromMarch + 2) % 12 + 1
    return (month <= 2 ? year + 1 : year, month, day)
  }

  package static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

extension Int64 {
  /// What is left of the quotient rounded down: never negative, and without a product that may overflow.
  fileprivate func positiveRemainder(_ divisor: Int64) -> Int64 {
    let remainder = self % divisor
    return remainder < 0 ? remainder + divisor : remainder
  }

  /// The quotient rounded down, for a positive divisor.
  fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 {
    self >= 0 ? self / divisor : (self + 1) / divisor - 1
  }
}
