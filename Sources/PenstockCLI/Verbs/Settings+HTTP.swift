import Penstock

extension Settings {
  /// Cookies and redirects. That the files can be read has been checked.
  func applyHTTP(to configuration: inout ClientConfiguration) {
    if http.trustsRedirects { configuration.redirects.keepsSecrets = true }
    guard http.keepsCookies else { return }
    let jar = CookieJar()
    for path in http.cookieFiles where !path.isEmpty { try? jar.load(path) }
    configuration.cookies = jar
  }

  /// Writes what `-c` names, as curl does whatever the end was.
  func saveCookies(of client: Client, after status: ExitStatus) async -> ExitStatus {
    guard let path = http.cookieJar, let jar = client.configuration.cookies else { return status }
    if path == "-" {
      do throws(OutputError) {
        try DescriptorWriter.standardOutput.write(jar.netscapeText)
        return status
      } catch {
        return status == .success ? error.exitStatus(telling: StandardError.tell) : status
      }
    }
    do throws(HTTPError) {
      try await jar.save(to: path)
      return status
    } catch {
      let failed = Failure.http(error).status(self)
      return status == .success ? failed : status
    }
  }

  /// The form of `-F`, made anew for each request.
  var multipartForm: MultipartForm {
    var form = MultipartForm()
    for field in http.form { form.parts.append(field.part) }
    return form
  }

  /// How long the body will be, where the head tells that of what is handed out.
  func bodyLength(_ head: FinalHead) -> Int64? {
    let hasNone = headOnly || head.status == 304 || head.status == 204
    guard !hasNone, head.headers["Content-Encoding"] == nil || !decodesContent else { return nil }
    return head.headers["Content-Length"].flatMap { Int64($0) }
  }
}

extension CurlFormField {
  fileprivate var part: MultipartForm.Part {
    switch content {
    case .value(let value):
      return MultipartForm.Part(name, fileName: fileName, body: .string(value).typed(type))
    case .content(let path):
      return MultipartForm.Part(name, fileName: fileName, body: Self.body(path).typed(type))
    case .file(let path):
      let shown = fileName ?? path.split(separator: "/").last.map(String.init) ?? path
      let type = type ?? MultipartForm.contentType(ofFile: shown)
      return MultipartForm.Part(name, fileName: shown, body: Self.body(path).typed(type))
    }
  }

  private static func body(_ path: String) -> RequestBody {
    if path == "-" { return .stream(InputSequence(.standardInput)) }
    return InputFile.isRegular(path) ? .file(path) : .stream(InputSequence(.file(path)))
  }
}
