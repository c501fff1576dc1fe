/// The arguments of a curl command, told apart: options by their long names with their values, and URLs.
struct CurlArguments: Sendable {
  var options: [(name: String, value: String)] = []
  var urls: [String] = []

  /// What curl has letters for, as far as it means something here.
  private static let letters: [Character: String] = [
    "X": "request", "H": "header", "d": "data", "F": "form", "T": "upload-file", "G": "get", "I": "head",
    "u": "user", "b": "cookie", "c": "cookie-jar", "A": "user-agent", "e": "referer", "L": "location",
    "k": "insecure", "m": "max-time", "s": "silent", "S": "show-error", "v": "verbose", "i": "include",
    "f": "fail", "o": "output", "O": "remote-name", "N": "no-buffer", "g": "globoff", "4": "ipv4",
    "6": "ipv6",
    "#": "progress-bar", "q": "disable", "w": "write-out", "J": "remote-header-name", "D": "dump-header",
    "R": "remote-time", "x": "proxy", "U": "proxy-user", "p": "proxytunnel", "E": "cert", "r": "range",
    "1": "tlsv1",
  ]

  private static let valued: Set<String> = [
    "request", "header", "data", "data-ascii", "data-raw", "data-binary", "data-urlencode", "json", "form",
    "form-string", "upload-file", "url", "url-query", "user", "oauth2-bearer", "aws-sigv4", "cookie",
    "cookie-jar",
    "user-agent", "referer", "max-redirs", "cacert", "connect-timeout", "max-time", "interface",
    "unix-socket",
    "resolve", "limit-rate", "expect100-timeout", "output", "output-dir", "write-out", "dump-header",
    "keepalive-time", "max-filesize", "proto", "proto-redir", "stderr", "trace", "trace-ascii", "range",
    "retry",
    "proxy", "proxy-user", "noproxy", "socks4", "socks4a", "socks5", "socks5-hostname", "cert", "cert-type",
    "key", "pass", "tls-max", "capath", "pinnedpubkey",
  ]

  private static let flags: Set<String> = [
    "get", "head", "location", "location-trusted", "insecure", "compressed", "http1.1", "http2", "ipv4",
    "ipv6",
    "basic", "digest", "silent", "show-error", "verbose", "include", "fail", "fail-with-body", "remote-name",
    "no-buffer",
    "globoff", "progress-bar", "no-progress-meter", "path-as-is", "tcp-nodelay", "disable",
    "remote-header-name", "remote-time", "create-dirs", "no-keepalive", "http2-prior-knowledge",
    "tcp-fastopen",
    "styled-output", "no-clobber", "tr-encoding", "proxytunnel", "proxy-basic", "proxy-digest",
    "proxy-anyauth",
    "tlsv1", "tlsv1.0", "tlsv1.1", "tlsv1.2", "tlsv1.3", "fail-early", "trace-time",
  ]

  /// In curl's manner: options anywhere, letters bundled, `--` ends them.
  init(_ words: [String]) throws(HTTPError) {
    guard let first = words.first, first == "curl" || first.hasSuffix("/curl") else {
      throw ShellWords.failure("it doesn't begin with \"curl\"")
    }
    var rest = words.dropFirst()
    while let word = rest.popFirst() {
      if word == "--" {
        urls += rest
        return
      } else if word.hasPrefix("--") {
        let name = String(word.dropFirst(2))
        if Self.flags.contains(name) {
          options.append((name, ""))
        } else if Self.valued.contains(name) {
          options.append((name, try Self.value(of: word, &rest)))
        } else if name.hasPrefix("no-"), Self.flags.contains(String(name.dropFirst(3))) {
          options.removeAll { $0.name == name.dropFirst(3) }
        } else {
          throw Self.unknown(word)
        }
      } else if word.hasPrefix("-"), word != "-" {
        try readLetters(word.dropFirst(), &rest)
      } else {
        urls.append(word)
      }
    }
  }

  private mutating func readLetters(
    _ text: Substring, _ rest: inout ArraySlice<String>
  ) throws(HTTPError) {
    var letters = text
    while let letter = letters.popFirst() {
      guard let name = Self.letters[letter] else { throw Self.unknown("-\(letter)") }
      if Self.flags.contains(name) {
        options.append((name, ""))
        continue
      }
      options.append((name, letters.isEmpty ? try Self.value(of: "-\(letter)", &rest) : String(letters)))
      return
    }
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(HTTPError) -> String {
    guard let value = rest.popFirst() else { throw ShellWords.failure("\(option) has no value") }
    return value
  }

  private static func unknown(_ option: String) -> HTTPError {
    ShellWords.failure(
      "the option \(option.prefix(40)) isn't supported", "Leave it out, or set it on the request")
  }
}
