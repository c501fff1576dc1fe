/// The value of `Retry-After` (RFC 9110 §10.2.3).
package enum RetryAfter: Sendable, Hashable {
  /// So many seconds from the answer.
  case seconds(Int64)
  /// Not before this time.
  case date(HTTPDate)

  /// Nil for anything but digits or a date. More digits than fit count as the largest number.
  package init?(_ value: String) {
    let text = FieldSyntax.trimmed(Array(value.utf8)[...])
    if !text.isEmpty && text.allSatisfy(DecimalDigits.isDigit) {
      self = .seconds(DecimalDigits.value(text) ?? .max)
    } else if let date = HTTPDate(String(decoding: text, as: UTF8.self)) {
      self = .date(date)
    } else {
      return nil
    }
  }

  /// How many seconds to wait as seen from `now`, never less than 0.
  package func seconds(from now: HTTPDate) -> Int64 {
    switch self {
    case .seconds(let seconds): return seconds
    case .date(let date):
      if date <= now { return 0 }
      let (wait, overflow) = date.secondsSinceEpoch.subtractingReportingOverflow(now.secondsSinceEpoch)
      return overflow ? .max : wait
    }
  }
}
