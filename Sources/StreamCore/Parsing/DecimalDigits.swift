/// Numbers as HTTP writes them: one or more ASCII digits and nothing else, no sign, no blank.
package enum DecimalDigits {
  /// The number; nil for anything but digits, for none at all and for more than 63 bits.
  package static func value(_ digits: some Sequence<UInt8>) -> Int64? {
    var result: Int64?
    for digit in digits {
      guard isDigit(digit) else { return nil }
      let (tenfold, tooLarge) = (result ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, overflow) = tenfold.addingReportingOverflow(Int64(digit &- UInt8(ascii: "0")))
      if tooLarge || overflow { return nil }
      result = sum
    }
    return result
  }

  /// Whether a byte is an ASCII digit.
  package static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
