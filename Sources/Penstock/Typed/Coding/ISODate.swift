import FoundationEssentials
import StreamCore

/// Dates of RFC 3339.
enum ISODate {
  /// `Z` or `+01:00`.
  private static let offset = String(repeating: "X", count: 3)
  private static let whole = DatePattern("yyyy-MM-dd'T'HH:mm:ss" + offset)
  private static let fractional = DatePattern("yyyy-MM-dd'T'HH:mm:ss.SSS" + offset)

  static func text(_ date: Date, fractions: Bool) -> String { (fractions ? fractional : whole).text(date) }

  /// `2026-11-30T22:51:16` with any fraction, then `Z` or an offset (`+01:00`, `+0100`, `+01`), or a bare date.
  static func date(_ text: String) -> Date? {
    var rest = Array(text.utf8)[...]
    func number(_ digits: Int) -> Int64? {
      guard rest.count >= digits, let value = DecimalDigits.value(rest.prefix(digits)) else { return nil }
      rest = rest.dropFirst(digits)
      return value
    }
    func skip(_ characters: String) -> Bool {
      guard let first = rest.first, characters.utf8.contains(first) else { return false }
      rest = rest.dropFirst()
      return true
    }
    guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
      (1...12).contains(month), day >= 1, day <= HTTPDate.days(inMonth: Int(month), of: year)
    else { return nil }
    let days = HTTPDate.dayNumber(year: year, month: month, day: day)
    if rest.isEmpty { return Date(timeIntervalSince1970: Double(days * 86_400)) }
    guard skip("Tt "), let hour = number(2), skip(":"), let minute = number(2), hour < 24, minute < 60 else {
      return nil
    }
    var second: Int64 = 0
    var fraction = 0.0
    if skip(":") {
      guard let given = number(2), given <= 60 else { return nil }
      second = given
      if skip(".,") {
        let digits = rest.prefix { DecimalDigits.isDigit($0) }
        guard !digits.isEmpty, let value = Double("0." + String(decoding: digits, as: UTF8.self)) else {
          return nil
        }
        fraction = value
        rest = rest.dropFirst(digits.count)
      }
    }
    guard let offset = zone(rest) else { return nil }
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - offset
    return Date(timeIntervalSince1970: Double(seconds) + fraction)
  }

  /// Seconds east of Greenwich; all of the text.
  static func zone(_ text: ArraySlice<UInt8>) -> Int64? {
    guard let first = text.first else { return nil }
    if first == UInt8(ascii: "Z") || first == UInt8(ascii: "z") { return text.count == 1 ? 0 : nil }
    guard first == UInt8(ascii: "+") || first == UInt8(ascii: "-") else { return nil }
    let digits = text.dropFirst().filter { $0 != UInt8(ascii: ":") }
    guard digits.count == 2 || digits.count == 4, let hours = DecimalDigits.value(digits.prefix(2)),
      let minutes = digits.count == 2 ? 0 : DecimalDigits.value(digits.suffix(2)), hours < 24, minutes < 60
    else { return nil }
    return (first == UInt8(ascii: "-") ? -1 : 1) * (hours * 3600 + minutes * 60)
  }
}
