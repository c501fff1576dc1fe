import CCrypto
package import StreamCore

/// Message authentication by a shared secret (RFC 2104 with SHA-256).
package enum HMACSHA256 {
  /// The 32 bytes for these bytes under this key.
  ///
  /// Throws `HTTPError.Kind.outOfResources` where the cryptographic library refuses.
  package static func authenticate(_ bytes: [UInt8], key: [UInt8]) throws(HTTPError) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    // HMAC takes a null key for "the one before": an empty key still needs an address.
    let key = key.isEmpty ? [0] : key
    guard let count = Int32(exactly: key.count),
      cshims_hmac_sha256(key, count, bytes, bytes.count, &code) == 1
    else {
      cshims_clear_errors()
      throw HTTPError(
        .outOfResources, phase: .queue, message: "the cryptographic library refuses HMAC-SHA-256")
    }
    return code
  }
}
