/// Names of JSON objects as they stand in a document.
package enum JSONKey {
  /// Whether the bytes between two quotation marks, escapes included, stand for a name. The bytes have been
  /// checked by `JSONScanner`, but for halves of surrogate pairs: a name with one is no name.
  package static func matches(_ raw: [UInt8], _ name: [UInt8]) -> Bool {
    guard raw.contains(UInt8(ascii: "\\")) else { return raw == name }
    return raw.withUnsafeBytes { JSONEscapes.removed(from: $0) } == name
  }
}
