/// How the end of a response's body is found (RFC 9112 §6.3), and what makes a head unusable.
package enum ResponseFraming: Sendable, Equatable {
  /// There is no body: HEAD, 1xx, 204, 304.
  case none
  /// So many bytes.
  case length(Int64)
  /// The chunked coding, or HTTP/2's own framing.
  case delimited
  /// Until the connection closes: a cut can't be told from the end.
  case untilClose
  /// The head contradicts itself.
  case invalid(String)

  package init(_ head: ResponseHead, method: HTTPMethod) {
    let codings = head.headers[all: "Transfer-Encoding"]
      .flatMap { $0.split(separator: ",") }.map { Self.trimmed($0).lowercased() }
    if codings.count > 1 || codings.contains(where: { $0 != "chunked" }) {
      self = .invalid("the transfer coding \"\(codings.joined(separator: ", "))\" isn't supported")
      return
    }
    var length: Int64?
    for value in head.headers[all: "Content-Length"].flatMap({
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }) {
      let digits = Self.trimmed(value)
      guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
        let number = Int64(digits)
      else {
        self = .invalid("the Content-Length \"\(digits)\" isn't a number of bytes")
        return
      }
      if let length, length != number {
        self = .invalid("there are two different lengths, \(length) and \(number)")
        return
      }
      length = number
    }
    if method == .head || head.status.isInformational || head.status == 204 || head.status == 304 {
      self = .none
    } else if !codings.isEmpty {
      self = .delimited
    } else if let length {
      self = .length(length)
    } else if head.version == .http2 || head.version == .http3 {
      self = .delimited
    } else {
      self = .untilClose
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return String(text)
  }
}
