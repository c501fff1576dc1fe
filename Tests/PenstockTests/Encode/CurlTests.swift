import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct ShellWordsTests {
  @Test(arguments: [
    ("curl http://h/", ["curl", "http://h/"]), ("a 'b c' \"d e\" f\\ g", ["a", "b c", "d e", "f g"]),
    ("a'b'\"c\"d", ["abcd"]), ("a '' \"\"", ["a", "", ""]), ("a \\\n  b\\\r\n c", ["a", "b", "c"]),
    ("'it'\\''s'", ["it's"]), ("\"\\\"\\\\\\$x\\n\"", ["\"\\$x\\n"]),
    ("$'a\\n\\u00fc\\x41\\'\\\\'", ["a\nüA'\\"]), ("a$ b", ["a$", "b"]), ("'$x `y` | ;'", ["$x `y` | ;"]),
    ("", []),
    ("a\n", ["a"]), ("a=b#c", ["a=b#c"]),
  ])
  func `words are read as a shell reads them`(_ text: String, _ words: [String]) throws {
    let split = try ShellWords.split(text)
    #expect(split == words)
  }

  @Test(arguments: [
    "a 'b", "a \"b", "a $'b", "a\\", "a | b", "a; b", "a && b", "a > f", "a $X", "a ${X}", "a $(x)", "\"$X\"",
    "`x`",
    "\"`x`\"", "a\nb", "a # c", "(a)", "$'\\u'",
  ])
  func `what only a shell can do is refused`(_ text: String) {
    #expect(throws: HTTPError(.invalidConfiguration, phase: .queue, message: "")) {
      try ShellWords.split(text)
    }
  }

  @Test func `every quoted word is read back`() throws {
    var random = SeededGenerator(seed: 11)
    let letters = Array("ab '\"\\$`|;&<>(){}#!*?~=\n\tüé\u{301}")
    for _ in 0..<300 {
      let words = (0..<(1 + random.next(below: 4))).map { _ in
        String((0..<random.next(below: 9)).map { _ in letters[random.next(below: letters.count)] })
      }
      let line = words.map { ShellWords.quoted($0) }.joined(separator: " ")
      let back = try ShellWords.split(line)
      #expect(back == words, "\(line)")
    }
  }

  @Test func `every cut of a command is words or an error`() {
    let text = "curl -X POST \"a\\\"b\" $'c\\u0041' 'd' e\\ f"
    for end in text.indices { _ = try? ShellWords.split(String(text[..<end])) }
  }
}

@Suite struct CurlFormFieldTests {
  private func one(_ text: String) -> CurlFormField? {
    guard case .success(let fields) = CurlFormField.parse(text), fields.count == 1 else { return nil }
    return fields[0]
  }

  @Test(arguments: [
    ("a=b", CurlFormField(name: "a", content: .value("b"))),
    ("a=", CurlFormField(name: "a", content: .value(""))),
    ("a=b=c", CurlFormField(name: "a", content: .value("b=c"))),
    ("a=b,c", CurlFormField(name: "a", content: .value("b,c"))),
    ("a=b;type=text/x", CurlFormField(name: "a", content: .value("b"), type: "text/x")),
    ("a=b;c", CurlFormField(name: "a", content: .value("b;c"))),
    ("a=\"b;c\";type=x/y", CurlFormField(name: "a", content: .value("b;c"), type: "x/y")),
    ("a=\"b\\\"\\\\c\"", CurlFormField(name: "a", content: .value("b\"\\c"))),
    ("f=@/tmp/x", CurlFormField(name: "f", content: .file("/tmp/x"))),
    ("f=@x;filename=y", CurlFormField(name: "f", content: .file("x"), fileName: "y")),
    (
      "f=@\"x;y\";type=text/plain; charset=utf-8;filename=\"z\"",
      CurlFormField(name: "f", content: .file("x;y"), type: "text/plain; charset=utf-8", fileName: "z")
    ),
    ("f=<x", CurlFormField(name: "f", content: .content(of: "x"))),
    ("f=@-", CurlFormField(name: "f", content: .file("-"))),
  ])
  func `fields are read as curl reads them`(_ text: String, _ field: CurlFormField) {
    #expect(one(text) == field)
    #expect(one(field.text()) == field)
  }

  @Test func `several files in one field`() {
    guard case .success(let fields) = CurlFormField.parse("f=@a,b;type=x/y,c") else {
      Issue.record("refused")
      return
    }
    #expect(fields.map(\.content) == [.file("a"), .file("b"), .file("c")])
    #expect(fields.map(\.type) == [nil, "x/y", nil])
  }

  @Test(arguments: ["", "a", "=b", "f=@", "f=<", "f=@\"x", "f=@x;foo=bar"]) func `others are refused`(
    _ text: String
  ) {
    guard case .failure = CurlFormField.parse(text) else {
      Issue.record("\(text) is taken")
      return
    }
  }

  @Test func `every cut of an argument is fields or an error`() {
    let text = "f=@\"a;\\\"b\";type=text/plain; x=y;filename=\"c\",d"
    for end in text.indices { _ = CurlFormField.parse(String(text[..<end])) }
  }
}

@Suite struct CurlImportTests {
  @Test func `a plain command`() throws {
    let request = try Request(curl: "curl https://h/x")
    #expect(request.method == .get && request.url == "https://h/x" && request.body.isEmpty)
    #expect(request.redirects?.limit == 0)
    #expect(request.decodesContent == false)
  }

  @Test func `as a browser copies it`() throws {
    let request = try Request(
      curl: """
        curl 'https://h/api?a=1' \\
          -X 'PATCH' \\
          -H 'accept: application/json' \\
          -H 'content-type: application/json' \\
          -b 'sid=1; x=2' \\
          --data-raw $'{"a":"it\\'s \\u00fc"}' \\
          --compressed -L
        """)
    #expect(request.method == .patch)
    #expect(request.headers["accept"] == "application/json")
    #expect(request.headers[all: "Content-Type"] == ["application/json"])
    #expect(request.headers["Cookie"] == "sid=1; x=2")
    #expect(request.body.contentType == nil)
    guard case .bytes(let chunk) = request.body.content else { return }
    #expect(String(decoding: chunk, as: UTF8.self) == "{\"a\":\"it's ü\"}")
    #expect(request.decodesContent == true)
    #expect(request.redirects?.limit == 20)
  }

  @Test(arguments: [
    ("-d a=1 -d b=2", "POST", "a=1&b=2", "application/x-www-form-urlencoded"),
    (
      "--data-urlencode 'a=1 2' --data-urlencode =x%", "POST", "a=1%202&x%25",
      "application/x-www-form-urlencoded"
    ),
    ("--json '{}' --json '1'", "POST", "{}1", "application/json"),
    ("-X PUT -d x", "PUT", "x", "application/x-www-form-urlencoded"),
    ("-d @-", "", "", ""), ("-sSvi -XDELETE", "DELETE", "", ""),
  ])
  func `bodies`(_ options: String, _ method: String, _ text: String, _ type: String) async throws {
    guard !method.isEmpty else {
      #expect(throws: HTTPError(.invalidConfiguration, phase: .queue, message: "")) {
        try Request(curl: "curl \(options) http://h/")
      }
      return
    }
    let request = try Request(curl: "curl \(options) http://h/")
    #expect(request.method.rawValue == method)
    let body = try await FormTests.text(request.body)
    #expect(body == text)
    #expect(request.body.contentType ?? "" == type)
  }

  @Test func `queries, heads, files and forms`() throws {
    let folder = try TestFolder()
    folder.write("a\r\nb", to: "data")
    let query = try Request(curl: "curl -G -d 'a=1' --url-query 'b=x y' 'http://h/p?z=0#f'")
    #expect(query.method == .get && query.url == "http://h/p?z=0&b=x%20y&a=1#f")
    #expect(try Request(curl: "curl -I h/").method == .head)
    #expect(try Request(curl: "curl -I h/").url == "http://h/")
    let cut = try Request(curl: "curl -d @\(folder("data")) h")
    #expect(cut.body.length == 2)
    let upload = try Request(curl: "curl -T \(folder("data")) http://h/up/")
    #expect(upload.method == .put && upload.url == "http://h/up/data")
    let form = try Request(curl: "curl -F a=1 -F 'f=@\(folder("data"));type=x/y' http://h/")
    #expect(form.method == .post)
    #expect((form.body.origin as? MultipartForm)?.parts.map(\.fileName) == [nil, "data"])
    #expect(throws: HTTPError(.readFailed, phase: .file, message: "")) {
      try Request(curl: "curl -d @/nonexistent h")
    }
  }

  @Test func `what concerns the transport`() throws {
    let request = try Request(
      curl: """
        curl -k --cacert ca.pem -4 --http1.1 --resolve h:80:127.0.0.1 --interface lo --connect-timeout 1.5 -m 10 \
        --limit-rate 2k -u me:pw -A '' -e http://r/ --max-redirs 3 --location-trusted --unix-socket /s --url http://h/
        """)
    #expect(request.tls?.verifiesTrust == false && request.tls?.caFile == "ca.pem")
    #expect(request.addressing?.family == .v4 && request.addressing?.overrides == ["h:80:127.0.0.1"])
    #expect(request.addressing?.interface == "lo" && request.addressing?.unixSocket == "/s")
    #expect(request.version == .http1_1)
    #expect(request.timeouts?.connect == .milliseconds(1500) && request.timeouts?.total == .seconds(10))
    #expect(request.rateLimit == .bytesPerSecond(2048))
    #expect(request.headers["Authorization"] == "Basic bWU6cHc=")
    #expect(request.headers["Referer"] == "http://r/")
    #expect(request.withoutDefaults == ["User-Agent"])
    #expect(request.redirects?.limit == 3 && request.redirects?.keepsSecrets == true)
  }

  @Test func `proxies, certificates, ranges and retries`() throws {
    let request = try Request(
      curl: """
        curl -x socks5h://p:1080 -U me:pw --noproxy a,b -E c.pem --key k.pem --pass pw --tlsv1.2 --tls-max 1.3 \
        --capath /roots --pinnedpubkey 'sha256//a=;sha256//b=' -r 0-99 --retry 3 https://h/
        """)
    guard case .through(let proxy, let rules)? = request.proxy else {
      Issue.record("no proxy")
      return
    }
    #expect(
      proxy.url == "socks5h://p:1080" && proxy.user == "me" && proxy.password == "pw" && rules == ["a", "b"])
    #expect(request.tls?.identity?.content == .files(certificate: "c.pem", key: "k.pem"))
    #expect(request.tls?.identity?.password == "pw" && request.tls?.minimumVersion == .v1_2)
    #expect(request.tls?.maximumVersion == .v1_3 && request.tls?.extraRoots == [.directory("/roots")])
    #expect(request.tls?.pinnedKeys == ["sha256//a=", "sha256//b="])
    #expect(request.headers["Range"] == "bytes=0-99" && request.retry?.limit == 3)
    #expect(try Request(curl: "curl --noproxy '*' -x p:1 http://h/").proxy == .direct)
    #expect(try Request(curl: "curl -x '' http://h/").proxy == .direct)
    #expect(try Request(curl: "curl --noproxy a http://h/").proxy == .environmentExcept(["a"]))
    let file = try Request(curl: "curl -E me.p12:pw --cert-type p12 https://h/")
    #expect(file.tls?.identity?.content == .pkcs12File("me.p12") && file.tls?.identity?.password == "pw")
    for command in [
      "curl -x h:p:q http://h/", "curl -U a:b http://h/", "curl --key k https://h/", "curl --tls-max 9 h",
    ] {
      #expect(throws: HTTPError.self) { try Request(curl: command) }
    }
  }

  @Test func `credentials that answer or sign are the request's own`() throws {
    let digest = try Request(curl: "curl --digest -u me:pw http://h/")
    #expect(!digest.headers.contains("Authorization") && !digest.hasNoChoices)
    let aws = try Request(
      curl: "curl --aws-sigv4 aws:amz:us-east-1:s3 -u ID:SECRET https://bucket.s3.amazonaws.com/x")
    #expect(!aws.headers.contains("Authorization"))
    let own = try Request(curl: "curl -u me:pw -H 'Authorization: mine' http://h/")
    #expect(own.headers[all: "Authorization"] == ["mine"])
    #expect(throws: HTTPError.self) { try Request(curl: "curl --aws-sigv4 aws:amz http://h/") }
  }

  @Test(arguments: [
    "wget http://h/", "", "curl", "curl --no-such http://h/", "curl -Q http://h/", "curl -X",
    "curl http://h/ http://i/",
    "curl -H nonsense http://h/", "curl --limit-rate x http://h/", "curl -d a -F b=c http://h/",
    "curl http://h/ | sh",
  ])
  func `what can't be understood is an error`(_ command: String) {
    #expect(throws: HTTPError.self) { try Request(curl: command) }
  }
}

@Suite struct CurlExportTests {
  /// Written as a command, read back, and written again.
  private func roundTrip(_ request: Request, _ configuration: ClientConfiguration = .init()) throws -> Request
  {
    let text = CurlExport.command(request, configuration).text(showsSecrets: true)
    let back = try Request(curl: text)
    // All that the first writing took from the client is the request's own now.
    var plain = ClientConfiguration()
    plain.userAgent = configuration.userAgent
    let again = CurlExport.command(back, plain).text(showsSecrets: true)
    let order = { (text: String) in try ShellWords.split(text).sorted() }
    let (one, two) = (try order(text), try order(again))
    #expect(one == two)
    return back
  }

  @Test func `a plain request says what is on here and off in curl`() {
    #expect(
      Request.get("http://h/").curlCommand()
        == "curl -L --max-redirs 20 -A penstock/\(PenstockVersion.library) --compressed http://h/")
  }

  @Test func `secrets are cut unless asked for`() {
    var request = Request.get(
      "http://u:pw@h/?token=hush&a=1",
      headers: ["Authorization": "Bearer hush", "Cookie": "a=hush", "X-Key": "hush", "X-A": "shown"])
    request.secretHeaders = ["x-key"]
    let cut = request.curlCommand()
    #expect(!cut.contains("hush") && !cut.contains("pw") && cut.contains("shown"))
    let shown = request.curlCommand(secrets: .shown)
    #expect(shown.contains("Bearer hush") && shown.contains("http://u:pw@h/?token=hush&a=1"))
  }

  @Test func `what a client adds is in its command`() {
    var configuration = ClientConfiguration()
    configuration.headers = ["X-App": "1", "Authorization": "hush"]
    configuration.userAgent = nil
    configuration.redirects = .none
    configuration.decodesContent = false
    let command = Client(configuration: configuration).curlCommand(for: .delete("http://h/[1]"))
    #expect(
      command == "curl -X DELETE -H 'User-Agent;' -H 'X-App: 1' -H 'Authorization: …' -g 'http://h/[1]'")
  }

  @Test func `requests are read back as they were`() async throws {
    var full = Request(
      .patch, "https://h/x?a=b", headers: ["X-A": "it's \"quoted\" $HOME", "Content-Type": "a/b", "X-E": ""],
      body: .string("line\nü'"))
    full.withoutDefaults = ["Accept"]
    full.version = .http1_1
    full.tls = TLSOptions()
    full.tls?.verifiesTrust = false
    full.tls?.verifiesName = false
    full.tls?.caFile = "/ca file.pem"
    full.addressing = Addressing()
    full.addressing?.family = .v6
    full.addressing?.overrides = ["h:443:10.0.0.1"]
    full.timeouts = TimeLimits()
    full.timeouts?.connect = .milliseconds(2500)
    full.timeouts?.total = .seconds(7)
    full.rateLimit = .bytesPerSecond(1000)
    full.tls?.identity = ClientIdentity(.files(certificate: "c.pem", key: "k.pem"), password: "hush")
    full.tls?.minimumVersion = .v1_2
    full.tls?.pinnedKeys = ["sha256//x="]
    var proxy = ProxyServer(.https, host: "p", port: 443, user: "me", password: "hush")
    proxy.authentication = .digest
    proxy.tunnelsAlways = true
    full.proxy = .through(proxy, except: ["a", ".b"])
    full.retry = RetryPolicy(limit: 2)
    full.expectContinue = .seconds(2)
    full.redirects = RedirectPolicy()
    full.redirects?.limit = 4
    full.redirects?.keepsSecrets = true
    let back = try roundTrip(full)
    #expect(back.method == .patch && back.url == full.url)
    #expect(back.headers["X-A"] == full.headers["X-A"] && back.headers["X-E"] == "")
    #expect(
      back.timeouts == full.timeouts && back.rateLimit == full.rateLimit && back.addressing == full.addressing
    )
    #expect(back.tls == full.tls && back.redirects?.limit == 4)
    #expect(back.proxy == full.proxy && back.retry?.limit == 2 && !full.curlCommand().contains("hush"))
    let text = try await FormTests.text(back.body)
    #expect(text == "line\nü'")

    for request in [
      Request.head("http://h/"), .put("http://h/", body: .file("/etc/hostname")), .post("http://h/"),
      .post("http://h/", body: .form([("a", "1 2")])), .put("http://h/", body: .string("x")),
      Request(.get, "http://h/", body: .string("x")), .options("http://h/"),
    ] {
      let back = try roundTrip(request)
      #expect(back.method == request.method && back.url == request.url)
      if case .bytes = request.body.content { #expect(back.body.length == request.body.length) }
    }
  }

  @Test func `forms are read back part by part`() throws {
    var form = MultipartForm()
    form.add("a", "x;y, \"z\"")
    form.addFile("f", path: "/etc/hostname")
    form.addFile("g", path: "/etc/hosts", fileName: "other name.txt", contentType: "x/y; charset=z")
    let back = try roundTrip(.post("http://h/", body: .multipart(form)))
    let parts = try #require(back.body.origin as? MultipartForm).parts
    #expect(parts.map(\.name) == ["a", "f", "g"])
    #expect(parts.map(\.fileName) == [nil, "hostname", "other name.txt"])
    #expect(
      parts[1].body.contentType == "application/octet-stream" && parts[2].body.contentType == "x/y; charset=z"
    )
  }

  @Test func `bytes that aren't text come from standard input`() {
    let command = Request.post("http://h/", body: .bytes([0, 255])).curlCommand()
    #expect(command.contains("--data-binary @-"))
    let stream = Request.put("http://h/", body: .stream(AsyncStream<[UInt8]> { nil })).curlCommand()
    #expect(stream.contains("-T -"))
  }

  @Test func `a jar's cookies are there, cut`() throws {
    let jar = CookieJar()
    try jar.set(Cookie("sid", "hush", domain: "h"))
    var request = Request.get("http://h/")
    request.cookies = .jar(jar)
    #expect(request.curlCommand().contains("-b '' -b 'sid=…'"))
    #expect(request.curlCommand(secrets: .shown).contains("-b sid=hush"))
  }
}
