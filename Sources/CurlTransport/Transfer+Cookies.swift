import StreamCore

extension Transfer {
  /// A head of any kind may bring cookies.
  func noteCookies(_ head: ResponseHead) {
    guard request.sharedOptions.value.cookies != nil, head.headers.contains("Set-Cookie") else { return }
    hasNewCookies = true
  }

  /// Gives the store what libcurl's engine has made of its lines.
  func returnCookies() {
    guard hasNewCookies, let store = request.sharedOptions.value.cookies?.store, let easy else { return }
    hasNewCookies = false
    let lines = easy.cookieLines
    store.merge(lines, lent: lentCookies)
    lentCookies = lines
  }

  /// Whose cookies they are: what the Host field says, as in libcurl.
  var cookieHost: String {
    guard let field = request.headers["Host"], !field.isEmpty else { return url.host }
    if field.hasPrefix("[") { return String(field.prefix { $0 != "]" }) + "]" }
    return String(field.prefix { $0 != ":" }).lowercased()
  }
}
