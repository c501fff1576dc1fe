import Penstock

extension OptionTable {
  /// Forms, cookies, redirects with secrets, pace, and the command as curl's.
  static let http: [Option] = [
    .flag(nil, "location-trusted", .request, "Send secrets to other origins on redirects too") {
      $0.http.trustsRedirects = true
    },
    .value(
      "F", "form", "NAME=VALUE", .body, "Part of a multipart form (POST); NAME=@FILE[;type=T][;filename=N]"
    ) {
      settings, text throws(UsageError) in
      switch CurlFormField.parse(text) {
      case .success(let fields): settings.http.form += fields
      case .failure(let problem): throw UsageError(problem.text)
      }
    },
    .value("b", "cookie", "FILE|'a=b'", .identity, "Send these cookies, or a file's, and keep what comes") {
      settings, text throws(UsageError) in
      if text.contains("=") {
        settings.http.cookiePairs.append(try HeaderValue.check(text, of: "Cookie"))
      } else {
        settings.http.cookieFiles.append(text)
      }
    },
    .value("c", "cookie-jar", "FILE", .identity, "Keep cookies and write them to this file; - is stdout") {
      settings, text throws(UsageError) in
      settings.http.cookieJar = try PathValue.parse(text)
    },
    .value(nil, "limit-rate", "BYTES[k|M|G]", .connection, "No faster than this a second, each way") {
      settings, text throws(UsageError) in
      let rate = try ByteCountValue.parse(text)
      settings.http.rateLimit = rate == 0 ? nil : rate
    },
    .flag(
      nil, "curl", .output, verbs: .requesting, "Print the equivalent curl command, secrets cut, and exit"
    ) {
      $0.http.printsCurl = true
    },
  ]
}
