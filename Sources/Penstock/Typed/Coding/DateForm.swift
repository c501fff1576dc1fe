public import FoundationEssentials

/// How a date is written and read.
public enum DateForm: Sendable {
  /// `2026-11-30T22:51:16Z` (RFC 3339). With and without fractions, and with any offset, is read.
  case iso8601
  /// `2026-11-30T22:51:16.250Z`; what is read is the same.
  case iso8601WithFractions
  /// Seconds since 1970, with fractions where there are some.
  case unixSeconds
  /// Whole milliseconds since 1970.
  case unixMilliseconds
  /// A pattern of your own.
  case pattern(DatePattern)
  /// Functions of your own: the first writes, the second reads (nil: it can't).
  case custom(@Sendable (Date) -> String, @Sendable (String) -> Date?)

  /// A pattern of your own, such as `"yyyy-MM-dd"`; see `DatePattern`.
  public static func format(_ pattern: String) -> DateForm { .pattern(DatePattern(pattern)) }

  /// Whether it is written as a number.
  var isNumber: Bool {
    switch self {
    case .unixSeconds, .unixMilliseconds: true
    default: false
    }
  }

  func text(_ date: Date) -> String {
    switch self {
    case .iso8601: return ISODate.text(date, fractions: false)
    case .iso8601WithFractions: return ISODate.text(date, fractions: true)
    case .unixSeconds:
      let seconds = date.timeIntervalSince1970
      return seconds == seconds.rounded() && abs(seconds) < 1e15 ? String(Int64(seconds)) : "\(seconds)"
    case .unixMilliseconds:
      let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
      return Int64(exactly: milliseconds).map(String.init) ?? "\(milliseconds)"
    case .pattern(let pattern): return pattern.text(date)
    case .custom(let write, _): return write(date)
    }
  }

  /// Reads a text; nil where it is no such date.
  func date(_ text: String) -> Date? {
    switch self {
    case .iso8601, .iso8601WithFractions: ISODate.date(text)
    case .unixSeconds: Double(text).map { Date(timeIntervalSince1970: $0) }
    case .unixMilliseconds: Double(text).map { Date(timeIntervalSince1970: $0 / 1000) }
    case .pattern(let pattern): pattern.date(text)
    case .custom(_, let read): read(text)
    }
  }
}
