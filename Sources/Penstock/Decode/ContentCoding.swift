/// A content coding that this build can undo (RFC 9110 §8.4.1).
package enum ContentCoding: String, Sendable, Hashable, CaseIterable {
  case gzip
  case deflate
  #if Brotli
    case brotli = "br"
  #endif
  #if Zstd
    case zstd
  #endif

  /// The coding that a lower-case token names, `x-gzip` included.
  package init?(token: String) {
    self.init(rawValue: token == "x-gzip" ? "gzip" : token)
  }

  /// What was applied to a body, in the order of application: all field lines, `identity` left out.
  ///
  /// Throws `.contentEncoding` for a coding that isn't known here and for more than
  /// `DecodingLimits.maximumCodings` of them.
  package static func applied(in headers: HTTPFields) throws(HTTPError) -> [ContentCoding] {
    var codings: [ContentCoding] = []
    for value in headers[all: "content-encoding"] {
      for element in value.utf8.split(separator: UInt8(ascii: ",")) {
        let token = FieldSyntax.trimmed(Substring(element)).lowercased()
        if token.isEmpty || token == "identity" { continue }
        guard let coding = ContentCoding(token: token) else { throw unknown(token) }
        codings.append(coding)
        if codings.count > DecodingLimits.maximumCodings {
          throw HTTPError(
            .contentEncoding, phase: .decode,
            message: "the body has more than \(DecodingLimits.maximumCodings) content codings")
        }
      }
    }
    return codings
  }

  private static func unknown(_ token: String) -> HTTPError {
    let trait: String? =
      switch token {
      case "br": "Brotli"
      case "zstd": "Zstd"
      default: nil
      }
    let advice = trait.map { "Build Penstock with the package trait \($0), or don't ask for \(token)" }
    return HTTPError(
      .contentEncoding, phase: .decode, message: "the content coding “\(token.prefix(40))” isn't known",
      advice: advice ?? "Turn decoding off to get the bytes as they came")
  }

  /// A fresh decoder of this coding.
  func makeStage() throws(HTTPError) -> any DecodingStage {
    switch self {
    case .gzip: return try GzipStage()
    case .deflate: return try DeflateStage()
    #if Brotli
      case .brotli: return try BrotliStage()
    #endif
    #if Zstd
      case .zstd: return try ZstdStage()
    #endif
    }
  }
}
