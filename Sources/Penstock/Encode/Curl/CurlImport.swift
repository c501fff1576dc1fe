extension Request {
  /// A request from a curl command as people copy it from documentation and browsers.
  ///
  /// ```swift
  /// let request = try Request(curl: "curl -X POST https://host/items -H 'X-A: 1' --json '{\"a\":1}'")
  /// ```
  ///
  /// Quotes are read as a shell reads them; nothing is expanded or run. Understood are: `-X -H -d` and its kin,
  /// `--json -F -T -G --url-query -I -r -u --digest --aws-sigv4 --oauth2-bearer -b -c -A -e -L --location-trusted --max-redirs
  /// --retry -k --cacert --capath -E --cert-type --key --pass --pinnedpubkey --tlsv1.2 --tls-max -x -U --noproxy -p --socks5
  /// --connect-timeout -m --compressed --http1.1 --http2 -4 -6 --interface --unix-socket --resolve --limit-rate
  /// --expect100-timeout`, with their kin. What concerns curl's own output (`-s -v -i -o` …) is passed over. As in curl, redirects are
  /// followed with `-L` only, and content codings asked for with `--compressed` only. Files named by `-d @FILE`, `-b`
  /// and `-F 'a=<FILE'` are read here, those of `-T`, `--data-binary @FILE` alone and `-F 'a=@FILE'` when the request
  /// is sent.
  ///
  /// - Throws: `HTTPError.Kind.invalidConfiguration` naming what can't be understood, `HTTPError.Kind.invalidURL`
  ///   without a URL, `HTTPError.Kind.readFailed` for a file that can't be read.
  public init(curl command: String) throws(HTTPError) {
    let arguments = try CurlArguments(ShellWords.split(command))
    var reader = CurlImport()
    for (name, value) in arguments.options { try reader.take(name, value) }
    self = try reader.request(arguments.urls)
  }
}

/// What the options of a curl command add up to.
struct CurlImport {
  private var method: String?
  private var request = Request(.get, "")
  private var urls: [String] = []
  private var data: [CurlData] = []
  private var isJSON = false
  private var form: MultipartForm?
  private var upload: String?
  private var dataInQuery = false
  private var headOnly = false
  private var query: [String] = []
  private var authorization: String?
  private var user: (name: String, password: String)?
  private var usesDigest = false
  private var awsProvider: String?
  private var follows = false
  private var redirects = RedirectPolicy()
  private var redirectLimit: Int?
  private var cookies: [String] = []
  private var jar: CookieJar?
  private var network = CurlNetwork()

  init() { request.decodesContent = false }

  mutating func take(_ name: String, _ value: String) throws(HTTPError) {
    switch name {
    case "request": method = value
    case "header": try takeHeader(value)
    case "data", "data-ascii": data.append(try CurlData(value, isPath: true, cutsLineEnds: true))
    case "data-raw": data.append(try CurlData(value, isPath: false))
    case "data-binary": data.append(try CurlData(value, isPath: true))
    case "data-urlencode": data.append(.text(try CurlData.urlEncoded(value)))
    case "json":
      data.append(try CurlData(value, isPath: true, joins: false))
      isJSON = true
    case "form": try takeForm(value)
    case "form-string":
      guard let equals = value.firstIndex(of: "=") else {
        throw ShellWords.failure("--form-string needs NAME=VALUE")
      }
      form = form ?? MultipartForm()
      form?.add(String(value[..<equals]), String(value[value.index(after: equals)...]))
    case "upload-file": upload = value
    case "get": dataInQuery = true
    case "head": headOnly = true
    case "url": urls.append(value)
    case "url-query":
      query.append(value.hasPrefix("+") ? String(value.dropFirst()) : try CurlData.urlEncoded(value))
    case "user":
      let name = value.prefix { $0 != ":" }
      user = (String(name), String(value.dropFirst(name.count + 1)))
    case "digest": usesDigest = true
    case "aws-sigv4": awsProvider = value
    case "oauth2-bearer": authorization = "Bearer " + value
    case "cookie": try takeCookie(value)
    case "cookie-jar":
      let old = jar
      let new = try CookieJar(file: value)
      for cookie in old?.all ?? [] { try new.set(cookie) }
      jar = new
    case "user-agent": setField("User-Agent", value)
    case "referer": setField("Referer", value)
    case "location": follows = true
    case "location-trusted":
      follows = true
      redirects.keepsSecrets = true
    case "max-redirs": redirectLimit = try Self.number(name, value)
    case "range": request.headers["Range"] = "bytes=" + value
    case "retry": request.retry = RetryPolicy(limit: try Self.number(name, value))
    default: try takeTransport(name, value)
    }
  }

  private mutating func takeTransport(_ name: String, _ value: String) throws(HTTPError) {
    var tls = request.tls ?? TLSOptions()
    var addressing = request.addressing ?? Addressing()
    var timeouts = request.timeouts ?? TimeLimits()
    switch name {
    case "insecure":
      tls.verifiesTrust = false
      tls.verifiesName = false
      request.tls = tls
    case "cacert":
      tls.caFile = value
      request.tls = tls
    case "connect-timeout":
      timeouts.connect = try Self.seconds(name, value)
      request.timeouts = timeouts
    case "max-time":
      timeouts.total = try Self.seconds(name, value)
      request.timeouts = timeouts
    case "compressed": request.decodesContent = true
    case "http1.1": request.version = .http1_1
    // As in curl: where the server offers it.
    case "http2": request.version = .automatic
    case "ipv4": addressing.family = .v4
    case "ipv6": addressing.family = .v6
    case "interface": addressing.interface = value
    case "unix-socket": addressing.unixSocket = value
    case "resolve": addressing.overrides.append(value.hasPrefix("+") ? String(value.dropFirst()) : value)
    case "limit-rate": request.rateLimit = .perSecond(try Self.bytes(value))
    case "expect100-timeout": request.expectContinue = try Self.seconds(name, value)
    default: try network.take(name, value)
    }
    if addressing != request.addressing ?? Addressing() { request.addressing = addressing }
  }

  private mutating func setField(_ name: String, _ value: String) {
    if value.isEmpty { request.withoutDefaults.insert(name) } else { request.headers[name] = value }
  }

  private mutating func takeHeader(_ line: String) throws(HTTPError) {
    if line.hasPrefix("@") { throw ShellWords.failure("-H @FILE isn't supported") }
    guard let colon = line.firstIndex(of: ":") else {
      guard line.hasSuffix(";") else {
        throw ShellWords.failure("a header is 'Name: value', 'Name:' or 'Name;'")
      }
      return request.headers.append(String(line.dropLast()), "")
    }
    let name = String(line[..<colon])
    let value = FieldSyntax.trimmed(Array(line[line.index(after: colon)...].utf8)[...])
    if value.isEmpty {
      request.withoutDefaults.insert(name)
    } else {
      request.headers.append(name, bytes: Array(value))
    }
  }

  private mutating func takeCookie(_ value: String) throws(HTTPError) {
    if value.contains("=") { return cookies.append(value) }
    jar = jar ?? CookieJar()
    if !value.isEmpty { try jar?.load(value) }
  }

  private mutating func takeForm(_ text: String) throws(HTTPError) {
    form = form ?? MultipartForm()
    switch CurlFormField.parse(text) {
    case .failure(let problem): throw ShellWords.failure("-F: \(problem.text)")
    case .success(let fields):
      for field in fields { form?.parts.append(try field.part()) }
    }
  }

  // MARK: what it adds up to

  func request(_ operands: [String]) throws(HTTPError) -> Request {
    var request = request
    let urls = urls + operands
    guard let url = urls.first else {
      throw HTTPError(.invalidURL, phase: .queue, message: "the curl command has no URL")
    }
    if urls.count > 1 { throw ShellWords.failure("it has \(urls.count) URLs", "Make a request of each") }
    if [form != nil, !data.isEmpty, upload != nil].count(where: { $0 }) > 1 {
      throw ShellWords.failure("-d, -F and -T can't be used together: one body a request")
    }
    let scheme = url.contains("://") ? "" : "http://"
    request.url = try CurlURLQuery.adding(
      query + (dataInQuery ? [try CurlData.joinedText(data)] : []), to: scheme + url, uploading: upload)
    request.method = HTTPMethod(method ?? inferredMethod)
    try setBody(of: &request)
    try setCredential(of: &request)
    if !cookies.isEmpty, !request.headers.contains("Cookie") {
      request.headers.append("Cookie", cookies.joined(separator: "; "))
    }
    if let jar { request.cookies = .jar(jar) }
    try network.apply(to: &request)
    var redirects = follows ? redirects : RedirectPolicy.none
    if follows, let redirectLimit { redirects.limit = redirectLimit < 0 ? .max : redirectLimit }
    request.redirects = redirects
    return request
  }

  /// A field of the request's own wins, as in curl.
  private func setCredential(of request: inout Request) throws(HTTPError) {
    if request.headers.contains("Authorization") { return }
    if let authorization { return request.headers.append("Authorization", authorization) }
    guard let user else {
      if awsProvider != nil { throw ShellWords.failure("--aws-sigv4 needs -u ID:SECRET") }
      return
    }
    if let awsProvider {
      let keys = AWSCredential.Keys(id: user.name, secret: user.password)
      request = request.authorized(by: try AWSCredential(curl: awsProvider, url: request.url, keys))
    } else if usesDigest {
      request = request.authorized(by: DigestCredential(user: user.name, password: user.password))
    } else {
      let pair = Array("\(user.name):\(user.password)".utf8)
      request.headers.append("Authorization", "Basic " + Base64.encode(pair))
    }
  }

  private var inferredMethod: String {
    if headOnly { return "HEAD" }
    if upload != nil { return "PUT" }
    if form != nil { return "POST" }
    return data.isEmpty || dataInQuery ? "GET" : "POST"
  }

  private func setBody(of request: inout Request) throws(HTTPError) {
    if let form { request.body = .multipart(form) }
    if let upload {
      if upload == "-" || upload == "." {
        throw ShellWords.failure("standard input can't be the body of a value")
      }
      request.body = .file(upload)
    }
    guard !data.isEmpty, !dataInQuery else { return }
    let body: RequestBody
    if data.count == 1, case .file(let path) = data[0] {
      body = .file(path)
    } else {
      body = .bytes(try CurlData.joined(data))
    }
    let hasType =
      request.headers.contains("Content-Type")
      || request.withoutDefaults.contains { $0.lowercased() == "content-type" }
    request.body = hasType ? body : body.typed(isJSON ? "application/json" : FormEncoding.contentType)
    if isJSON, !request.headers.contains("Accept") { request.headers.append("Accept", "application/json") }
  }

  // MARK: values

  private static func number(_ option: String, _ text: String) throws(HTTPError) -> Int {
    guard let number = Int(text) else { throw ShellWords.failure("--\(option) needs a number") }
    return number
  }

  private static func seconds(_ option: String, _ text: String) throws(HTTPError) -> Duration? {
    guard let seconds = Double(text), seconds >= 0, seconds < 1e9 else {
      throw ShellWords.failure("--\(option) needs a number of seconds")
    }
    return seconds == 0 ? nil : .milliseconds(max(1, Int64(seconds * 1000)))
  }

  private static func bytes(_ text: String) throws(HTTPError) -> ByteCount {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let count = Int64(digits) else { throw ShellWords.failure("--limit-rate needs a number of bytes") }
    switch text.dropFirst(digits.count).lowercased() {
    case "", "b": return .bytes(count)
    case "k": return .kibibytes(count)
    case "m": return .mebibytes(count)
    case "g": return .gibibytes(count)
    default: throw ShellWords.failure("--limit-rate needs a number of bytes")
    }
  }
}
