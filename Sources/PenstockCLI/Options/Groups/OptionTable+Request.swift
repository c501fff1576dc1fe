import Penstock

extension OptionTable {
  static let request: [Option] = [
    .value("X", "request", "METHOD", .request, "Method of the first request; a redirect may change it") {
      settings, text throws(UsageError) in
      guard HTTPMethod(text).isValid else {
        throw UsageError("\(UsageError.quote(text)) is not a method")
      }
      settings.method = text
    },
    .value("H", "header", "LINE", .request, "'Name: value'; 'Name:' is not sent, 'Name;' is sent empty") {
      settings, text throws(UsageError) in
      settings.headers.append(try HeaderValue.parse(text))
    },
    .flag("I", "head", .request, "Ask for the head alone (HEAD)") { $0.headOnly = true },
    .flag("G", "get", .request, "Put the data of -d into the query") { $0.dataInQuery = true },
    .value(nil, "url-query", "NAME=VALUE", .request, "Add to the query, percent-encoded") {
      settings, text throws(UsageError) in
      guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
        throw UsageError("\(UsageError.quote(text)) is not NAME=VALUE")
      }
      settings.queryItems.append(
        Settings.QueryItem(
          name: String(text[..<equals]), value: String(text[text.index(after: equals)...])))
    },
    .value(nil, "max-redirs", "N", .request, "Follow at most N redirects (default 20, 0 = none)") {
      settings, text throws(UsageError) in
      settings.maximumRedirects = try CountValue.parse(text)
    },
  ]

  static let body: [Option] = [
    .value(
      "d", "data", "DATA|@FILE", .body, "Form data (POST); from a file CR, LF and NUL are cut; @- reads stdin"
    ) {
      settings, text throws(UsageError) in
      settings.data.append(try DataValue.parse(text, cutsLineEnds: true, joins: true))
    },
    .value(nil, "data-binary", "DATA|@FILE", .body, "As -d, a file's bytes unchanged") {
      settings, text throws(UsageError) in
      settings.data.append(try DataValue.parse(text, cutsLineEnds: false, joins: true))
    },
    .value(nil, "data-raw", "DATA", .body, "As -d, but a leading @ means itself") { settings, text in
      settings.data.append(DataValue.literal(text, joins: true))
    },
    .value(nil, "json", "DATA|@FILE", .body, "As --data-binary, sent and accepted as application/json") {
      settings, text throws(UsageError) in
      settings.data.append(try DataValue.parse(text, cutsLineEnds: false, joins: false))
      settings.isJSON = true
    },
    .value("T", "upload-file", "FILE", .body, "Stream a file (PUT); - streams standard input, chunked") {
      settings, text throws(UsageError) in
      settings.upload = try DataValue.inputSource(text)
    },
  ]

  static let identity: [Option] =
    credentials + [
      .value("A", "user-agent", "NAME", .identity, "The User-Agent; empty sends none") {
        settings, text throws(UsageError) in
        settings.userAgent = try HeaderValue.check(text, of: "User-Agent")
      },
      .value("e", "referer", "URL", .identity, "The Referer; empty sends none") {
        settings, text throws(UsageError) in
        settings.referer = try HeaderValue.check(text, of: "Referer")
      },
    ]
}
