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
    if let length = Self.plainLength(head.headers) {
      self =
        Self.hasNoBody(head, method) ? .none : .length(length)
      return
    }
    let codings = head.headers[all: "Transfer-Encoding"]
      .flatMap { $0.split(separator: ",") }.map { FieldSyntax.trimmed($0).lowercased() }
    if codings.count > 1 || codings.contains(where: { $0 != "chunked" }) {
      self = .invalid("the transfer coding \"\(codings.joined(separator: ", "))\" isn't supported")
      return
    }
    let length: Int64?
    do throws(HTTPError) {
      length = try ContentLength.agreed(in: head.headers)
    } catch {
      self = .invalid(error.message)
      return
    }
    if Self.hasNoBody(head, method) {
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

  /// Whether the end of the body can be told from a cut; `streams`: whether its connection can, of a stream.
  package func tellsCut(streams: Bool) -> Bool {
    switch self {
    case .untilClose: false
    case .delimited: streams
    case .none, .length, .invalid: true
    }
  }

  private static func hasNoBody(_ head: ResponseHead, _ method: HTTPMethod) -> Bool {
    method == .head || head.status.isInformational || head.status == 204 || head.status == 304
  }

  /// The length in the usual case: one Content-Length line of digits, and no Transfer-Encoding.
  private static func plainLength(_ fields: HTTPFields) -> Int64? {
    var length: Int64?
    var isPlain = true
    // Few names are as long as one of the two.
    fields.forEachLine(whoseNameLength: { $0 == 14 || $0 == 17 }) { name, value in
      if HTTPFields.isName(name, "content-length") {
        if length != nil || value.isEmpty || value.count > 18 { isPlain = false }
        var number: Int64 = 0
        for byte in value {
          guard byte >= 0x30, byte <= 0x39, value.count <= 18 else {
            isPlain = false
            return
          }
          number = number * 10 + Int64(byte - 0x30)
        }
        length = number
      } else if HTTPFields.isName(name, "transfer-encoding") {
        isPlain = false
      }
    }
    return isPlain ? length : nil
  }
}
