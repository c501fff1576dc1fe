extension Request {
  /// What becomes of secrets in a command.
  public enum SecretDisplay: Sendable, Hashable {
    /// They are cut: Authorization, Cookie and their like, `secretHeaders`, user info, marked query items.
    case redacted
    /// They are shown: the command can be run.
    case shown
  }

  /// The curl command that sends the same request, for a POSIX shell, on one line.
  ///
  /// `Request(curl:)` reads it back. A body that a shell can't write (a stream, bytes that aren't text) is read by curl
  /// from its standard input. What curl doesn't have is left out: the limits of first byte and idleness, a coding put
  /// on the body, trailers, priorities, certificates that are in memory, middlewares and credentials that make fields later.
  public func curlCommand(secrets: SecretDisplay = .redacted) -> String {
    CurlExport.command(self, ClientConfiguration()).text(showsSecrets: secrets == .shown)
  }
}

extension Client {
  /// The curl command for a request as this client sends it, its base URL, settings and default fields included.
  public func curlCommand(for request: Request, secrets: Request.SecretDisplay = .redacted) -> String {
    // A base URL that can't be used is told when the request is sent.
    let request = (try? resolved(request)) ?? request
    return CurlExport.command(request, configuration).text(showsSecrets: secrets == .shown)
  }
}

/// Writes a request as a curl command.
enum CurlExport {
  static func command(_ request: Request, _ configuration: ClientConfiguration) -> CurlCommand {
    var command = CurlCommand()
    addMethod(request, to: &command)
    addRedirects(request.redirects ?? configuration.redirects, to: &command)
    addFields(request, configuration, to: &command)
    addCookies(request, configuration, to: &command)
    addBody(request, to: &command)
    addTransport(request, configuration, to: &command)
    command.url(request.url)
    return command
  }

  private static func addMethod(_ request: Request, to command: inout CurlCommand) {
    switch (request.method, request.body.content) {
    case (.get, .empty), (.post, .empty), (.post, .bytes), (.post, .deferred): break
    case (.head, .empty): command.flag("-I")
    case (.put, .file) where !CurlURLQuery.namesFolder(request.url): break
    case (.put, .stream): break
    default: command.option("-X", request.method.rawValue)
    }
  }

  private static func addRedirects(_ policy: RedirectPolicy, to command: inout CurlCommand) {
    guard policy.limit > 0 else { return }
    command.flag(policy.keepsSecrets ? "--location-trusted" : "-L")
    command.option("--max-redirs", policy.limit == .max ? "-1" : "\(policy.limit)")
  }

  private static func addFields(
    _ request: Request, _ configuration: ClientConfiguration, to command: inout CurlCommand
  ) {
    let secrets = Set(request.secretHeaders.map { $0.lowercased() })
    var fields = request.headers
    var defaults = configuration.headers
    for name in request.withoutDefaults { defaults.removeAll(name) }
    fields.appendMissing(from: defaults)
    let left = Set(request.withoutDefaults.map { $0.lowercased() })
    if !fields.contains("User-Agent"), !left.contains("user-agent") {
      if let agent = configuration.userAgent {
        command.option("-A", agent)
      } else {
        command.header("User-Agent", "")
      }
    }
    if request.expectContinue != nil { fields.removeAll("Expect") }
    if usesJar(request, configuration) { fields.removeAll("Cookie") }
    for field in fields {
      if field.name.lowercased() == "user-agent", !field.value.isEmpty {
        command.option("-A", field.value)
        continue
      }
      command.header(field.name, field.value, isSecret: secrets.contains(field.name.lowercased()))
    }
    for name in request.withoutDefaults.sorted()
    where !fields.contains(name) && name.lowercased() != "accept-encoding" {
      command.option("-H", name + ":")
    }
    if request.decodesContent ?? configuration.decodesContent, !fields.contains("Accept-Encoding") {
      command.flag("--compressed")
    }
  }

  private static func usesJar(_ request: Request, _ configuration: ClientConfiguration) -> Bool {
    request.cookies.link(configuration) != nil
  }

  /// What the jar would send now, besides the request's own.
  private static func addCookies(
    _ request: Request, _ configuration: ClientConfiguration, to command: inout CurlCommand
  ) {
    guard let jar = request.cookies.link(configuration)?.store as? CookieJar else { return }
    let kept = ((try? jar.cookies(for: request.url)) ?? []).map { ($0.name, $0.value) }
    let pairs = kept.map { "\($0.0)=\($0.1)" } + request.headers[all: "Cookie"]
    // An empty name turns curl's own cookies on for the hops to come.
    command.option("-b", "")
    guard !pairs.isEmpty else { return }
    let names = pairs.map { $0.prefix { $0 != "=" } + "=" + Redaction.mark }
    command.option("-b", pairs.joined(separator: "; "), shown: names.joined(separator: "; "))
  }

  private static func addBody(_ request: Request, to command: inout CurlCommand) {
    let body = request.body
    if let form = body.origin as? MultipartForm {
      addExpect(request, to: &command)
      return addForm(form, to: &command)
    }
    let hasType = request.headers.contains("Content-Type")
    addExpect(request, to: &command)
    switch body.content {
    case .empty:
      // As in HTTP, such a method says that its content is empty.
      guard request.method.expectsContent else { return }
      command.option("--data-raw", "")
    case .bytes(let chunk): command.option(chunk.first == nil ? "--data-raw" : data(chunk).0, data(chunk).1)
    case .file(let path):
      // curl would add the file's name to the URL.
      if CurlURLQuery.namesFolder(request.url) {
        command.option("--data-binary", "@" + path)
      } else {
        command.option("-T", path)
      }
    case .stream, .deferred: command.option("-T", "-")
    }
    if hasType { return }
    if let type = body.contentType { return command.header("Content-Type", type) }
    switch body.content {
    case .file where !CurlURLQuery.namesFolder(request.url): break
    case .empty, .bytes, .file:
      if !request.withoutDefaults.contains(where: { $0.lowercased() == "content-type" }) {
        command.option("-H", "Content-Type:")
      }
    case .stream, .deferred: break
    }
  }

  /// curl asks before it sends a file; here that is said aloud.
  private static func addExpect(_ request: Request, to command: inout CurlCommand) {
    switch request.body.content {
    case .empty, .bytes: return
    case .file, .stream, .deferred: break
    }
    let isSaid = request.headers.contains("Expect") || request.expectContinue != nil
    if !isSaid, !request.withoutDefaults.contains(where: { $0.lowercased() == "expect" }) {
      command.option("-H", "Expect:")
    }
  }

  /// Text as it is; what no shell can hand over comes from standard input.
  private static func data(_ chunk: BodyChunk) -> (String, String) {
    guard !chunk.contains(0), let text = String(validating: chunk, as: UTF8.self) else {
      return ("--data-binary", "@-")
    }
    return ("--data-raw", text)
  }

  private static func addForm(_ form: MultipartForm, to command: inout CurlCommand) {
    for part in form.parts {
      var field = CurlFormField(name: part.name, content: .file("-"))
      field.type = part.headers["Content-Type"] ?? part.body.contentType
      field.fileName = part.fileName
      switch part.body.content {
      case .file(let path): field.content = .file(path)
      case .empty: field.content = .value("")
      case .bytes(let chunk):
        if let text = String(validating: chunk, as: UTF8.self), !text.utf8.contains(0) {
          field.content = .value(text)
        }
      case .stream, .deferred: break
      }
      if case .file(let path) = field.content {
        let shown = path.split(separator: "/").last.map(String.init) ?? path
        if field.fileName == shown { field.fileName = nil }
        if field.type == MultipartForm.contentType(ofFile: part.fileName ?? shown) { field.type = nil }
      }
      command.option("-F", field.text())
    }
  }

  private static func addTransport(
    _ request: Request, _ configuration: ClientConfiguration, to command: inout CurlCommand
  ) {
    switch request.version ?? configuration.version {
    case .automatic: break
    case .http1_1: command.flag("--http1.1")
    case .http2: command.flag("--http2")
    }
    CurlNetwork.add(request.tls ?? configuration.tls, to: &command)
    CurlNetwork.add(request.proxy ?? configuration.proxy, to: &command)
    if let retry = request.retry ?? configuration.retry, retry.limit > 0 {
      command.option("--retry", "\(retry.limit)")
    }
    let addressing = request.addressing ?? configuration.addressing
    switch addressing.family {
    case .any: break
    case .v4: command.flag("-4")
    case .v6: command.flag("-6")
    }
    if let interface = addressing.interface { command.option("--interface", interface) }
    if let path = addressing.unixSocket { command.option("--unix-socket", path) }
    for entry in addressing.overrides { command.option("--resolve", entry) }
    let timeouts = request.timeouts ?? configuration.timeouts
    let usual = TimeLimits()
    if timeouts.connect != usual.connect {
      command.option("--connect-timeout", timeouts.connect.map(seconds) ?? "0")
    }
    if let total = timeouts.total { command.option("-m", seconds(total)) }
    if let limit = request.expectContinue {
      command.header("Expect", "100-continue")
      command.option("--expect100-timeout", seconds(limit))
    }
    if let rate = request.rateLimit { command.option("--limit-rate", "\(rate.bytesPerSecond)") }
  }

  static func seconds(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let milliseconds = attoseconds / 1_000_000_000_000_000
    if milliseconds == 0 { return "\(seconds)" }
    let digits = String(milliseconds + 1000).dropFirst()
    return "\(seconds).\(digits)"
  }
}
