import Glibc
import Penstock

/// Turns what was said of TLS and proxies into the library's values.
enum NetworkBuilder {
  static func apply(_ settings: Settings, to configuration: inout ClientConfiguration) {
    let network = settings.network
    applyTLS(settings, to: &configuration.tls)
    switch network.proxy {
    case .direct: configuration.proxy = .direct
    case .through(var proxy):
      if let credentials = network.proxyUser {
        proxy.user = credentials.user
        proxy.password = credentials.password
      }
      // There is no option for the proxy's own roots: those named are for both.
      proxy.tls.caFile = configuration.tls.caFile
      proxy.tls.extraRoots = configuration.tls.extraRoots
      configuration.proxy = .through(proxy, except: network.noProxy ?? environmentRules)
    case nil:
      if let rules = network.noProxy { configuration.proxy = .environmentExcept(rules) }
      if let credentials = network.proxyUser {
        // The library hands it to the proxy alone.
        let pair = Array("\(credentials.user):\(credentials.password)".utf8)
        configuration.headers.append("Proxy-Authorization", "Basic " + Base64.encode(pair))
      }
    }
  }

  private static func applyTLS(_ settings: Settings, to tls: inout TLSOptions) {
    let network = settings.network
    if let directory = network.authorityDirectory { tls.extraRoots = [.directory(directory)] }
    if let version = network.minimumTLS { tls.minimumVersion = version }
    if !network.pinnedKeys.isEmpty { tls.pinnedKeys = network.pinnedKeys }
    guard let certificate = network.certificate else { return }
    let content: ClientIdentity.Content =
      isPEM(certificate)
      ? .files(certificate: certificate, key: network.key ?? certificate) : .pkcs12File(certificate)
    tls.identity = ClientIdentity(content, password: network.certificatePassword)
  }

  /// curl heeds `no_proxy` beside `-x` too.
  private static var environmentRules: [String] {
    for name in ["no_proxy", "NO_PROXY"] {
      guard let text = getenv(name).map({ String(cString: $0) }), !text.isEmpty else { continue }
      return HostListValue.parse(text)
    }
    return []
  }

  /// A PKCS#12 file is DER and begins with a sequence (0x30); PEM is text.
  private static func isPEM(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return true }
    defer { close(descriptor) }
    var first: [UInt8] = [0, 0]
    guard read(descriptor, &first, 2) == 2 else { return true }
    return first[0] != 0x30 || first[1] < 0x80
  }

  /// Fails when a file or directory that is read later can't be: exit 26 before any request.
  static func checkFiles(_ network: NetworkSettings) throws(CommandFailure) {
    for path in [network.certificate, network.key] {
      if let path { try InputFile.check(path) }
    }
    if let pin = network.pinnedKeys.first, !pin.hasPrefix("sha256//") { try InputFile.check(pin) }
    if let path = network.authorityDirectory {
      guard let directory = opendir(path) else {
        throw CommandFailure(
          status: .readFailed,
          message: "can't read \(UsageError.quote(path)): \(SystemErrorText.text(for: errno))")
      }
      closedir(directory)
    }
  }
}
