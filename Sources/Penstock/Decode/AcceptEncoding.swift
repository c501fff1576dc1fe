/// The `Accept-Encoding` field that goes with decoding.
package enum AcceptEncoding {
  /// Exactly the codings that this build undoes: "gzip, deflate", then `br` and `zstd` where their package
  /// traits are on.
  package static let value = ContentCoding.allCases.map(\.rawValue).joined(separator: ", ")
}
