import CurlTransport

/// Turns a `Request` and its client's settings into what a transport carries: nothing is left to default.
enum RequestEncoder {
  static func encode(
    _ request: Request, _ configuration: ClientConfiguration, reportsUpload: Bool
  ) throws(HTTPError) -> TransportRequest {
    if let setting = configuration.invalidSetting {
      throw HTTPError(
        .invalidConfiguration, phase: .queue, message: "the client's setting \"\(setting)\" is out of range",
        advice: "It must be positive", method: request.method, url: request.url)
    }
    var options = TransportOptions()
    options.timeouts = request.timeouts ?? configuration.timeouts
    options.watermark = request.watermark ?? configuration.watermark
    options.version = request.version ?? configuration.version
    options.tls = request.tls ?? configuration.tls
    options.addressing = request.addressing ?? configuration.addressing
    options.headLimit = configuration.headLimit
    options.priority = request.priority
    options.isLongLived = request.isLongLived
    options.mayReplayUnsafe = request.mayReplayUnsafe
    options.reportsUpload = reportsUpload
    return TransportRequest(
      method: request.method, url: request.url, headers: headers(request, configuration), body: request.body,
      options: options)
  }

  static func headers(_ request: Request, _ configuration: ClientConfiguration) -> HTTPFields {
    var headers = request.headers
    for field in configuration.headers where !headers.contains(field.name) {
      headers.append(field.name, field.value)
    }
    func setDefault(_ name: String, _ value: @autoclosure () -> String?) {
      guard !headers.contains(name) else { return }
      if !request.withoutDefaults.isEmpty,
        request.withoutDefaults.contains(where: { $0.lowercased() == name.lowercased() })
      {
        return
      }
      if let value = value() { headers.append(name, value) }
    }
    setDefault("User-Agent", configuration.userAgent)
    setDefault("Accept", "*/*")
    if request.decodesContent ?? configuration.decodesContent {
      setDefault("Accept-Encoding", AcceptEncoding.value)
    }
    return headers
  }
}
