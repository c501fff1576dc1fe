import Penstock

/// The curl command that means the same as a command line: what was given in curl's spelling, and what is on by default
/// here and not there. Secrets are cut.
enum CurlText {
  /// What curl has under another name.
  private static let renamed = [
    "bearer": "--oauth2-bearer", "max-body": "--max-filesize", "dir": "--output-dir",
  ]

  /// What curl has under the same name.
  private static let same: Set<String> = [
    "request", "header", "data", "data-binary", "data-raw", "json", "form", "upload-file", "get", "url-query",
    "head", "user", "digest", "netrc", "netrc-file", "aws-sigv4", "cookie", "cookie-jar", "user-agent",
    "referer",
    "location-trusted", "insecure", "cacert", "capath", "cert", "key", "pinnedpubkey", "tlsv1.2", "tlsv1.3",
    "proxy", "noproxy", "proxy-user", "unix-socket", "resolve", "interface", "ipv4", "ipv6", "http1.1",
    "http2",
    "connect-timeout", "max-time", "limit-rate", "retry", "fail", "include", "verbose", "silent", "output",
    "remote-name", "remote-time",
  ]

  static func text(_ settings: Settings) -> String { text(settings, urls: settings.urls, nil) }

  /// The command for one input of a batch: what its line says takes the place of what was given for all.
  static func text(_ settings: Settings, _ input: BatchInput) -> String {
    text(settings, urls: [input.url], input)
  }

  private static func text(_ settings: Settings, urls: [String], _ input: BatchInput?) -> String {
    var command = CurlCommand()
    addDefaults(settings, input?.details, to: &command)
    // Under -G curl forgets --url-query: its items go with the data, in front of it as here.
    let joinsQuery = settings.dataInQuery && !settings.data.isEmpty
    if joinsQuery {
      for given in settings.http.given.all where given.option.name == "url-query" {
        let value = given.value ?? ""
        command.option("--data-urlencode", value, shown: query(value))
      }
    }
    for given in settings.http.given.all where !(joinsQuery && given.option.name == "url-query") {
      let option = given.option
      if let details = input?.details, details.replaces(option.name, given.value) { continue }
      let name: String
      if let other = renamed[option.name] {
        name = other
      } else if same.contains(option.name) {
        name = option.letter.map { "-\($0)" } ?? "--\(option.name)"
      } else if option.name == "continue" {
        command.option("-C", "-")
        continue
      } else {
        continue
      }
      guard let value = given.value else {
        command.flag(name)
        continue
      }
      command.option(name, value, shown: shown(value, of: option.name, settings))
    }
    if settings.verb == .download, !settings.http.given.contains("output"),
      !settings.http.given.contains("remote-name")
    {
      command.flag("-O")
    }
    if let input { add(input, settings, to: &command) }
    for url in urls { command.url(url) }
    return command.text(showsSecrets: false)
  }

  /// What the line of an input says beside the URL.
  private static func add(_ input: BatchInput, _ settings: Settings, to command: inout CurlCommand) {
    if settings.directory != nil, !settings.headOnly {
      command.option("-o", input.details?.file ?? BatchFolder.name(of: input.url))
    }
    guard let details = input.details else { return }
    if details.setsMethod {
      let usual = details.body == nil ? "GET" : "POST"
      let method =
        details.method ?? (settings.effectiveMethod == "GET" ? usual : settings.effectiveMethod)
      if method == "HEAD" { command.flag("-I") } else if method != usual { command.option("-X", method) }
    }
    for (name, value) in details.headers { command.header(name, value) }
    guard let body = details.body else { return }
    command.option("--data-raw", body)
    let named = Set((details.headers.map(\.name) + settings.headers.map(\.name)).map { $0.lowercased() })
    for name in ["Content-Type", "Accept"] where settings.isJSON && !named.contains(name.lowercased()) {
      command.header(name, "application/json")
    }
    // curl would say that it is a form.
    if settings.data.isEmpty, !named.contains("content-type") { command.option("-H", "Content-Type:") }
  }

  /// What is on here and off there.
  private static func addDefaults(
    _ settings: Settings, _ details: BatchInput.Details?, to command: inout CurlCommand
  ) {
    let limit = settings.maximumRedirects ?? RedirectPolicy().limit
    if limit > 0 {
      if !settings.http.trustsRedirects { command.flag("-L") }
      command.option("--max-redirs", "\(limit)")
    }
    if settings.decodesContent { command.flag("--compressed") }
    let named = Set(
      (settings.headers.map(\.name) + (details?.headers.map(\.name) ?? [])).map { $0.lowercased() })
    if settings.userAgent == nil, !named.contains("user-agent") {
      if let agent = ClientConfiguration().userAgent { command.option("-A", agent) }
    }
    // curl would ask before it sends a file.
    let sendsFile = settings.upload != nil || settings.http.form.contains { !$0.isValue }
    if sendsFile, !named.contains("expect") {
      command.option("-H", "Expect:")
    }
    if settings.verb == .sse, !named.contains("accept") { command.header("Accept", "text/event-stream") }
    switch settings.verb {
    case .events, .lines, .sse: command.flag("-N")
    case .get, .download, .batch, .help: break
    }
  }

  /// What stands in place of a value that holds a secret.
  private static func shown(_ value: String, of name: String, _ settings: Settings) -> String? {
    switch name {
    case "bearer": return Redaction.mark
    case "user", "proxy-user":
      let user = value.prefix { $0 != ":" }
      return user.count < value.count ? "\(user):\(Redaction.mark)" : nil
    case "header":
      let field = value.prefix { $0 != ":" }
      guard field.count < value.count, Redaction.isSecretField(String(field)) else { return nil }
      return value.dropFirst(field.count + 1).allSatisfy(\.isWhitespace) ? nil : "\(field): \(Redaction.mark)"
    case "cookie":
      guard value.contains("=") else { return nil }
      return value.split(separator: ";").map { pair in
        "\(pair.prefix { $0 != "=" }.trimmingPrefix(while: \.isWhitespace))=\(Redaction.mark)"
      }.joined(separator: "; ")
    case "proxy", "referer": return Redaction.url(value)
    case "url-query": return query(value)
    case "data", "data-raw", "data-binary": return settings.dataInQuery ? query(value) : nil
    case "pinnedpubkey": return nil
    default: return nil
    }
  }

  /// Marked items of a query.
  private static func query(_ text: String) -> String {
    String(Redaction.url("http://h/?" + text).dropFirst(10))
  }
}

extension BatchInput.Details {
  /// Whether something that was given for all inputs isn't for this one.
  fileprivate func replaces(_ option: String, _ value: String?) -> Bool {
    switch option {
    case "request", "head": setsMethod
    case "data", "data-raw", "data-binary", "json", "form", "upload-file": body != nil
    case "header": names(String((value ?? "").prefix { $0 != ":" && $0 != ";" }))
    default: false
    }
  }

  fileprivate var setsMethod: Bool { method != nil || body != nil }

  fileprivate func names(_ field: String) -> Bool {
    headers.contains { $0.name.lowercased() == field.lowercased() }
  }
}
