public import FoundationEssentials
import StreamCore

/// A date pattern of numbers, in UTC: `yyyy` `MM` `dd` `HH` `mm` `ss` `SSS` (one to nine digits of the second's
/// fraction), `XX` (`Z` or `+0100`), three `X` (`Z` or `+01:00`), text between apostrophes, and other characters as
/// they are. One letter in place of two is read without and written without a leading zero.
///
/// Names of months and days are left out on purpose: they depend on a language.
public struct DatePattern: Sendable, Hashable {
  private enum Part: Sendable, Hashable {
    case literal(String)
    case field(Character, Int)
  }

  /// The pattern as it was written.
  public let text: String
  private let parts: [Part]

  /// A pattern; letters that mean nothing stand for themselves.
  public init(_ pattern: String) {
    text = pattern
    var parts: [Part] = []
    var literal = ""
    var rest = Substring(pattern)
    func flush() {
      if !literal.isEmpty { parts.append(.literal(literal)) }
      literal = ""
    }
    while let first = rest.first {
      if first == "'" {
        rest.removeFirst()
        let quoted = rest.prefix { $0 != "'" }
        literal += quoted.isEmpty ? "'" : String(quoted)
        rest = rest.dropFirst(quoted.count + 1)
      } else if "yMdHmsSXZ".contains(first) {
        flush()
        let run = rest.prefix { $0 == first }
        parts.append(.field(first, run.count))
        rest = rest.dropFirst(run.count)
      } else {
        literal.append(first)
        rest.removeFirst()
      }
    }
    flush()
    self.parts = parts
  }

  /// A date in UTC by this pattern.
  public func text(_ date: Date) -> String {
    let digits = fractionDigits
    let scale = Self.powers[digits]
    let total = date.timeIntervalSince1970
    var seconds = total.rounded(.down)
    // Rounded where digits are written, so that 0.1 stays 0.1.
    var fraction = digits == 0 ? 0 : ((total - seconds) * scale).rounded()
    if fraction >= scale, digits > 0 {
      seconds += 1
      fraction = 0
    }
    guard let whole = Int64(exactly: seconds) else { return "" }
    let time = ((whole % 86_400) + 86_400) % 86_400
    let civil = HTTPDate.date(ofDayNumber: (whole - time) / 86_400)
    return parts.map { part in
      switch part {
      case .literal(let text): text
      case .field("y", 2): HTTPDate.padded(civil.year % 100, 2)
      case .field("y", let width): HTTPDate.padded(civil.year, width)
      case .field("M", let width): HTTPDate.padded(civil.month, width)
      case .field("d", let width): HTTPDate.padded(civil.day, width)
      case .field("H", let width): HTTPDate.padded(time / 3600, width)
      case .field("m", let width): HTTPDate.padded(time / 60 % 60, width)
      case .field("s", let width): HTTPDate.padded(time % 60, width)
      case .field("S", let width): HTTPDate.padded(Int64(fraction), min(width, 9))
      case .field("Z", _): "+0000"
      case .field: "Z"
      }
    }.joined()
  }

  /// Reads all of a text; nil where it isn't of this pattern or no such day.
  public func date(_ text: String) -> Date? {
    var rest = Array(text.utf8)[...]
    var values: [Character: Int64] = ["y": 1970, "M": 1, "d": 1, "H": 0, "m": 0, "s": 0]
    var fraction = 0.0
    var zone: Int64 = 0
    for part in parts {
      switch part {
      case .literal(let literal):
        guard rest.starts(with: literal.utf8) else { return nil }
        rest = rest.dropFirst(literal.utf8.count)
      case .field("X", _), .field("Z", _):
        let offset = rest.prefix { $0 != 0x20 }
        guard let seconds = ISODate.zone(offset) else { return nil }
        zone = seconds
        rest = rest.dropFirst(offset.count)
      case .field(let letter, let width):
        let most = letter == "y" && width != 2 ? max(4, width) : letter == "S" ? min(width, 9) : max(2, width)
        let digits = rest.prefix(most).prefix { DecimalDigits.isDigit($0) }
        guard digits.count >= (letter == "y" && width == 1 ? 1 : width),
          let value = DecimalDigits.value(digits)
        else { return nil }
        rest = rest.dropFirst(digits.count)
        if letter == "S" {
          fraction = Double(value) / Self.powers[digits.count]
        } else {
          values[letter] = letter == "y" && width == 2 ? (value < 70 ? 2000 : 1900) + value : value
        }
      }
    }
    guard rest.isEmpty, let year = values["y"], let month = values["M"], let day = values["d"],
      let hour = values["H"], let minute = values["m"], let second = values["s"], (1...12).contains(month),
      day >= 1, day <= HTTPDate.days(inMonth: Int(month), of: year), hour < 24, minute < 60, second <= 60
    else { return nil }
    let days = HTTPDate.dayNumber(year: year, month: month, day: day)
    return Date(
      timeIntervalSince1970: Double(days * 86_400 + hour * 3600 + minute * 60 + second - zone) + fraction)
  }

  private static let powers: [Double] = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

  private var fractionDigits: Int {
    for case .field("S", let width) in parts { return min(width, 9) }
    return 0
  }
}
