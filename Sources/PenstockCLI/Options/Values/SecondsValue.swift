/// `S`: seconds with an optional fraction, 0 for no limit.
enum SecondsValue {
  /// About three hundred years would still fit; more than this is surely a mistake.
  private static let largest: Int64 = 1_000_000_000

  static func parse(_ text: String) throws(UsageError) -> Settings.TimeLimit {
    if text.hasPrefix("-") { throw UsageError("\(UsageError.quote(text)) is negative") }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let whole = parts.first ?? ""
    let fraction = parts.count > 1 ? parts[1] : ""
    guard parts.count <= 2, !(whole.isEmpty && fraction.isEmpty), isDigits(whole), isDigits(fraction) else {
      throw UsageError("\(UsageError.quote(text)) is not a number of seconds")
    }
    guard let seconds = Int64(whole.isEmpty ? "0" : whole), seconds <= largest else {
      throw UsageError("\(UsageError.quote(text)) seconds is too long")
    }
    let digits = fraction.prefix(9)
    var nanoseconds = Int64(digits.isEmpty ? "0" : digits) ?? 0
    for _ in digits.count..<9 { nanoseconds *= 10 }
    if seconds == 0, !fraction.allSatisfy({ $0 == "0" }) {
      // Shorter than a millisecond still means "at once", never "no limit".
      nanoseconds = max(nanoseconds, 1_000_000)
    }
    if seconds == 0, nanoseconds == 0 { return .unlimited }
    return .after(.seconds(seconds) + .nanoseconds(nanoseconds))
  }

  private static func isDigits(_ text: Substring) -> Bool {
    text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  }
}
