import Penstock

extension Settings {
  /// The method of the first request.
  var effectiveMethod: String {
    if let method { return method }
    if headOnly { return "HEAD" }
    if upload != nil { return "PUT" }
    if !http.form.isEmpty { return "POST" }
    return data.isEmpty || dataInQuery ? "GET" : "POST"
  }

  /// Whether content codings are asked for and decoded.
  var decodesContent: Bool { compressed ?? (verb != .download) }

  /// What is to be done to the library's default fields, in order; what `-H` says of a name takes the place of
  /// what other options say of it.
  var fieldOperations: [HeaderOperation] {
    let named = Set(headers.map { $0.name.lowercased() })
    return impliedFields.filter { !named.contains($0.name.lowercased()) } + headers
  }

  private var impliedFields: [HeaderOperation] {
    var fields: [HeaderOperation] = []
    switch authorization {
    case .basic(let user, let password) where sendsBasic:
      let credentials = Base64.encode(Array("\(user):\(password)".utf8))
      fields.append(.add(name: "Authorization", value: "Basic " + credentials))
    case .bearer(let token): fields.append(.add(name: "Authorization", value: "Bearer " + token))
    case .basic, nil: break
    }
    if let userAgent { fields.append(Self.field("User-Agent", userAgent)) }
    if let referer { fields.append(Self.field("Referer", referer)) }
    if !http.cookiePairs.isEmpty {
      fields.append(.add(name: "Cookie", value: http.cookiePairs.joined(separator: "; ")))
    }
    if !data.isEmpty, !dataInQuery {
      let type = isJSON ? "application/json" : "application/x-www-form-urlencoded"
      fields.append(.add(name: "Content-Type", value: type))
      if isJSON { fields.append(.add(name: "Accept", value: "application/json")) }
    }
    return fields
  }

  private static func field(_ name: String, _ value: String) -> HeaderOperation {
    value.isEmpty ? .remove(name: name) : .add(name: name, value: value)
  }

  /// The URL to ask for: with the query items and, under `-G`, the data; with the file's name where `-T FILE`
  /// goes to a URL whose path ends in a slash, as in curl.
  func requestURL(_ url: String, data loaded: [UInt8]) -> String {
    var added = queryItems.map { item in
      PercentEncoding.encode(item.name.utf8) + "=" + PercentEncoding.encode(item.value.utf8)
    }
    if dataInQuery, !loaded.isEmpty {
      // It is a query already: only what can't stand in a URL is encoded.
      added.append(
        PercentEncoding.encode(loaded, keeping: { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }))
    }

    let target = url.prefix { $0 != "#" }
    let fragment = url[target.endIndex...]
    var path = String(target.prefix { $0 != "?" })
    var query = String(target.dropFirst(path.count))
    if case .file(let file) = upload, Self.needsFileName(path) {
      let name = file.split(separator: "/").last ?? ""
      path += (path.hasSuffix("/") ? "" : "/") + PercentEncoding.encode(name.utf8)
    }
    if !added.isEmpty {
      query += query.isEmpty ? "?" : (query == "?" || query.hasSuffix("&") ? "" : "&")
      query += added.joined(separator: "&")
    }
    return path + query + fragment
  }

  /// Whether the path of this URL (without query) names a directory; `http://host` does.
  private static func needsFileName(_ url: String) -> Bool {
    let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[0].hasSuffix(":"), parts[1].isEmpty, !parts[2].isEmpty else {
      return false
    }
    return parts.count == 3 || parts[3].isEmpty || parts[3].hasSuffix("/")
  }
}
