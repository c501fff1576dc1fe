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

  static func text(_ settings: Settings) -> String {
    var command = CurlCommand()
    addDefaults(settings, to: &command)
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
    for url in settings.urls { command.url(url) }
    return command.text(showsSecrets: false)
  }

  /// What is on here and off there.
  private static func addDefaults(_ settings: Settings, to command: inout CurlCommand) {
    let limit = settings.maximumRedirects ?? RedirectPolicy().limit
    if limit > 0 {
      if !settings.http.trustsRedirects { command.flag("-L") }
      command.option("--max-redirs", "\(limit)")
    }
    if settings.decodesContent { command.flag("--compressed") }
    let named = Set(settings.headers.map { $0.name.lowercased() })
    if settings.userAgent == nil, !named.contains("user-agent") {
      if let agent = ClientConfiguration().userAgent { command.option("-A", agent) }
    }
    // curl would ask before it sends a file.
    let sendsFile = settings.upload != nil || settings.http.form.contains { !$0.isValue }
    if sendsFile, !named.contains("expect") {
      command.option("-H", "Expect:")
    }
    if settings.verb == .sse, !named.contains("accept") { command.header("Accept", "text/event-stream") }
    if settings.verb != .get, settings.verb != .download { command.flag("-N") }
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
