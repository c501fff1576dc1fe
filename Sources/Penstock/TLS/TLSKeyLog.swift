import CurlTransport

/// The secrets of TLS sessions, for looking into one's own traffic with Wireshark.
///
/// Whoever has the file can read everything that was sent. It is for the whole process: libcurl opens it when it is set
/// up, by the environment variable `SSLKEYLOGFILE`, which does the same without this call.
public enum TLSKeyLog {
  /// Appends the secrets of all TLS sessions from now on to a file in NSS's key log format.
  /// - Throws: `HTTPError.Kind.invalidConfiguration` when a client of this process has sent a request already, and
  ///   `HTTPError.Kind.writeFailed` when the file can't be written.
  public static func start(file path: String) throws(HTTPError) { try CurlGlobal.startKeyLog(path) }
}
