import CCurl
import Glibc
package import StreamCore
import Synchronization

/// libcurl's process-wide set-up and what it was built with.
package enum CurlGlobal {
  /// Runs `curl_global_init` once; true when libcurl can be used.
  static let isReady: Bool = setUp.withLock { state in
    state.isDone = true
    if let path = state.keyLog { _ = unsafe setenv(keyLogVariable, path, 1) }
    return curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
  }

  private struct SetUp {
    var isDone = false
    var keyLog: String?
  }

  private static let setUp = Mutex(SetUp())
  /// libcurl reads it once, in its set-up.
  private static let keyLogVariable = "SSLKEYLOGFILE"

  /// Lets libcurl write the secrets of all TLS sessions to a file.
  package static func startKeyLog(_ path: String) throws(HTTPError) {
    let isEarly = setUp.withLock { state in
      guard !state.isDone else { return false }
      state.keyLog = path
      return true
    }
    guard isEarly else {
      throw HTTPError(
        .invalidConfiguration, phase: .queue, message: "the key log can't be started once libcurl is set up",
        advice: "Start it before the first client sends a request")
    }
    // For nobody else's eyes.
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "error \(errno)"
      setUp.withLock { $0.keyLog = nil }
      throw HTTPError(
        .writeFailed, phase: .file, message: "the key log \"\(path)\" can't be written: \(reason)")
    }
    _ = close(descriptor)
  }

  /// Versions of libcurl, TLS, zlib and HTTP in use, for people.
  package static let versions: [String] = {
    guard let info = unsafe cshims_version_info()?.pointee else { return [] }
    var parts: [String] = []
    if let version = unsafe info.version { parts.append("libcurl/" + (unsafe String(cString: version))) }
    if let tls = unsafe info.ssl_version { parts.append(unsafe String(cString: tls)) }
    if let zlib = unsafe info.libz_version { parts.append("zlib/" + (unsafe String(cString: zlib))) }
    if let http2 = unsafe info.nghttp2_version { parts.append("nghttp2/" + (unsafe String(cString: http2))) }
    return parts
  }()

  /// Whether a removed HTTP/2 stream is told to the peer only with the next thing that is sent.
  static let keepsResetsBack: Bool = {
    guard let info = unsafe cshims_version_info()?.pointee else { return false }
    return unsafe info.version_num < 0x08_01_00
  }()

  /// Whether an HTTP/2 stream that was reset with NO_ERROR, or whose session has broken, looks like one at its end.
  static let hidesCutStreams: Bool = {
    guard let info = unsafe cshims_version_info()?.pointee else { return false }
    return unsafe info.version_num < 0x08_00_00
  }()

  /// The file of the system's roots, as libcurl was built with.
  static let systemRoots: String? = {
    guard let info = unsafe cshims_version_info()?.pointee, let path = unsafe info.cainfo else { return nil }
    return unsafe String(cString: path)
  }()

  /// Whether this libcurl speaks HTTP/2.
  package static let hasHTTP2: Bool = {
    guard let info = unsafe cshims_version_info()?.pointee else { return false }
    return unsafe info.features & Int32(CURL_VERSION_HTTP2) != 0
  }()
}
