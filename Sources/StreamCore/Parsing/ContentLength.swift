/// The length that a response states (RFC 9110 §8.6).
package enum ContentLength {
  /// The one length that all `Content-Length` fields agree on; nil where there is none.
  ///
  /// Several lines or a list of equal numbers count as one. Throws `.malformedResponse` for different numbers
  /// and for anything that isn't a number of at most 63 bits.
  package static func agreed(in headers: HTTPFields) throws(HTTPError) -> Int64? {
    var agreed: Int64?
    for value in headers.rawValues("content-length") {
      for element in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        guard let length = DecimalDigits.value(FieldSyntax.trimmed(element)) else {
          throw malformed("Content-Length isn't a number")
        }
        if let agreed, agreed != length {
          throw malformed("there are different values of Content-Length: \(agreed) and \(length)")
        }
        agreed = length
      }
    }
    return agreed
  }

  private static func malformed(_ message: String) -> HTTPError {
    HTTPError(.malformedResponse, phase: .head, message: message)
  }
}
