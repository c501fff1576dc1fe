@_spi(_Unicode) internal import Swift

/// Names with letters beyond ASCII, as the DNS has them (IDNA 2008, RFC 5891, with the mapping of capital letters and
/// composed forms that people expect, RFC 5895).
///
/// libcurl would do this by the locale's character set, which in a service is mostly "C" and has no such letters.
package enum IDNHost {
  /// The name in ASCII; the same for one that is; nil for one that can't be.
  package static func ascii(_ host: String) -> String? {
    if host.utf8.allSatisfy({ $0 < 0x80 }) { return host }
    var labels: [String] = []
    for label in host.unicodeScalars.split(omittingEmptySubsequences: false, whereSeparator: isDot) {
      let mapped = Array(String(String.UnicodeScalarView(label)).lowercased()._nfc)
      if mapped.allSatisfy(\.isASCII) {
        labels.append(String(String.UnicodeScalarView(mapped)))
        continue
      }
      guard mapped.allSatisfy(isAllowed), let first = mapped.first, !isMark(first),
        let encoded = Punycode.encode(mapped), encoded.utf8.count <= 59
      else { return nil }
      labels.append("xn--" + encoded)
    }
    let name = labels.joined(separator: ".")
    return name.utf8.count <= 254 ? name : nil
  }

  /// A full stop, and those that count as one (RFC 5895 §2.2).
  private static func isDot(_ scalar: Unicode.Scalar) -> Bool {
    [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"].contains(scalar)
  }

  /// Letters, digits, marks and the hyphen (RFC 5892), and the joiners between letters.
  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII {
      return scalar == "-" || scalar == "_" || scalar.properties.generalCategory == .lowercaseLetter
        || scalar.properties.numericType != nil
    }
    switch scalar.properties.generalCategory {
    case .lowercaseLetter, .modifierLetter, .otherLetter, .decimalNumber: return true
    case .nonspacingMark, .spacingMark: return true
    default: return scalar == "\u{200C}" || scalar == "\u{200D}" || scalar == "\u{B7}" || scalar == "\u{30FB}"
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    [.nonspacingMark, .spacingMark, .enclosingMark].contains(scalar.properties.generalCategory)
  }
}
