/// What a curl command says of proxies and TLS.
struct CurlNetwork {
  private var proxy: ProxyServer?
  private var proxyUser: (name: String, password: String?)?
  private var proxyAuthentication: ProxyServer.Authentication?
  private var tunnelsAlways = false
  private var isDirect = false
  private var exceptions: [String]?
  private var certificate: String?
  private var certificateType = "PEM"
  private var key: String?
  private var password: String?
  private var changes: [(inout TLSOptions) -> Void] = []

  mutating func take(_ name: String, _ value: String) throws(HTTPError) {
    switch name {
    case "proxy":
      isDirect = value.isEmpty
      proxy = isDirect ? nil : try ProxyServer(value)
    case "socks4", "socks4a", "socks5": proxy = try ProxyServer(name + "://" + value)
    case "socks5-hostname": proxy = try ProxyServer("socks5h://" + value)
    case "proxy-user":
      let user = value.prefix { $0 != ":" }
      proxyUser = (String(user), user.count == value.count ? nil : String(value.dropFirst(user.count + 1)))
    case "proxy-basic": proxyAuthentication = .basic
    case "proxy-digest": proxyAuthentication = .digest
    case "proxy-anyauth": proxyAuthentication = .any
    case "proxytunnel": tunnelsAlways = true
    case "noproxy":
      exceptions = value.split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init)
    case "cert":
      let file = value.prefix { $0 != ":" }
      certificate = String(file)
      if file.count < value.count { password = String(value.dropFirst(file.count + 1)) }
    case "cert-type": certificateType = value.uppercased()
    case "key": key = value
    case "pass": password = value
    case "capath": changes.append { $0.extraRoots.append(.directory(value)) }
    case "pinnedpubkey":
      changes.append { $0.pinnedKeys = value.split(separator: ";").map(String.init) }
    case "tlsv1", "tlsv1.0": changes.append { $0.minimumVersion = .v1_0 }
    case "tlsv1.1": changes.append { $0.minimumVersion = .v1_1 }
    case "tlsv1.2": changes.append { $0.minimumVersion = .v1_2 }
    case "tlsv1.3": changes.append { $0.minimumVersion = .v1_3 }
    case "tls-max":
      guard value != "default" else { return }
      guard let version = TLSVersion(rawValue: value) else {
        throw ShellWords.failure("--tls-max needs 1.0, 1.1, 1.2 or 1.3")
      }
      changes.append { $0.maximumVersion = version }
    default: break
    }
  }

  func apply(to request: inout Request) throws(HTTPError) {
    try applyProxy(to: &request)
    var tls = request.tls ?? TLSOptions()
    for change in changes { change(&tls) }
    if let certificate {
      switch certificateType {
      case "PEM":
        tls.identity = ClientIdentity(
          .files(certificate: certificate, key: key ?? certificate), password: password)
      case "P12": tls.identity = ClientIdentity(.pkcs12File(certificate), password: password)
      default: throw ShellWords.failure("--cert-type is PEM or P12")
      }
    } else if key != nil {
      throw ShellWords.failure("--key needs --cert")
    }
    if tls != request.tls ?? TLSOptions() { request.tls = tls }
  }

  private func applyProxy(to request: inout Request) throws(HTTPError) {
    let isDirect = isDirect || exceptions == ["*"]
    guard var proxy, !isDirect else {
      if proxyUser != nil, !isDirect { throw ShellWords.failure("-U needs a proxy") }
      if isDirect {
        request.proxy = .direct
      } else if let exceptions {
        request.proxy = .environmentExcept(exceptions)
      }
      return
    }
    if let proxyUser {
      proxy.user = proxyUser.name
      proxy.password = proxyUser.password
    }
    if let proxyAuthentication { proxy.authentication = proxyAuthentication }
    proxy.tunnelsAlways = tunnelsAlways
    request.proxy = .through(proxy, except: exceptions ?? [])
  }

  // MARK: the other way

  static func add(_ policy: ProxyPolicy, to command: inout CurlCommand) {
    switch policy {
    case .environment: return
    case .direct: command.option("--noproxy", "*")
    case .environmentExcept(let rules): command.option("--noproxy", rules.joined(separator: ","))
    case .through(let proxy, let rules):
      command.option("-x", proxy.url)
      if let user = proxy.user {
        command.option(
          "-U", user + (proxy.password.map { ":" + $0 } ?? ""), shown: user + ":" + Redaction.mark)
        switch proxy.authentication {
        case .basic: break
        case .digest: command.flag("--proxy-digest")
        case .any: command.flag("--proxy-anyauth")
        }
      }
      if proxy.tunnelsAlways { command.flag("-p") }
      if !rules.isEmpty { command.option("--noproxy", rules.joined(separator: ",")) }
    }
  }

  static func add(_ tls: TLSOptions, to command: inout CurlCommand) {
    if !tls.verifiesTrust || !tls.verifiesName { command.flag("-k") }
    if let file = tls.caFile { command.option("--cacert", file) }
    for case .directory(let path) in tls.extraRoots { command.option("--capath", path) }
    if let version = tls.minimumVersion { command.flag("--tlsv" + version.rawValue) }
    if let version = tls.maximumVersion { command.option("--tls-max", version.rawValue) }
    if !tls.pinnedKeys.isEmpty { command.option("--pinnedpubkey", tls.pinnedKeys.joined(separator: ";")) }
    guard let identity = tls.identity else { return }
    switch identity.content {
    case .files(let certificate, let key):
      command.option("-E", certificate)
      if key != certificate { command.option("--key", key) }
    case .pkcs12File(let path):
      command.option("-E", path)
      command.option("--cert-type", "P12")
    // What is in memory has no name.
    case .pem, .pkcs12: return
    }
    if let password = identity.password { command.option("--pass", password, shown: Redaction.mark) }
  }
}
