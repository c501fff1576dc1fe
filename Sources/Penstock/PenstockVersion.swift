import CurlTransport
@_exported public import StreamCore

/// The library's version and what it runs on.
public enum PenstockVersion {
  /// The version of Penstock.
  public static let library = "0.1.0"
  /// Versions of libcurl, TLS, zlib and HTTP/2 in use.
  public static var components: [String] { CurlGlobal.versions }
  /// The HTTP versions that can be negotiated.
  public static var protocols: [String] {
    CurlGlobal.hasHTTP2 ? ["HTTP/1.0", "HTTP/1.1", "HTTP/2"] : ["HTTP/1.0", "HTTP/1.1"]
  }
}
