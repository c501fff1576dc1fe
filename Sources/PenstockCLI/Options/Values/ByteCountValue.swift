/// `BYTES[k|M|G]`: a whole number of bytes, in multiples of 1024 with a suffix.
enum ByteCountValue {
  static func parse(_ text: String) throws(UsageError) -> Int64 {
    if text.hasPrefix("-") { throw UsageError("\(UsageError.quote(text)) is negative") }
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard !digits.isEmpty else { throw UsageError("\(UsageError.quote(text)) is not a size") }
    let factor: Int64
    switch text[digits.endIndex...] {
    case "": factor = 1
    case "k", "K": factor = 1 << 10
    case "m", "M": factor = 1 << 20
    case "g", "G": factor = 1 << 30
    default:
      throw UsageError("\(UsageError.quote(text)) is not a size: a number, then k, M or G or nothing")
    }
    let product = Int64(digits)?.multipliedReportingOverflow(by: factor)
    guard let product, !product.overflow else { throw UsageError("\(UsageError.quote(text)) is too large") }
    return product.partialValue
  }
}
