/// `N`: a whole number that isn't negative.
enum CountValue {
  static func parse(_ text: String) throws(UsageError) -> Int {
    if text.hasPrefix("-") { throw UsageError("\(UsageError.quote(text)) is negative") }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw UsageError("\(UsageError.quote(text)) is not a whole number")
    }
    guard let count = Int(text), count <= Int(Int32.max) else {
      throw UsageError("\(UsageError.quote(text)) is too large")
    }
    return count
  }
}
