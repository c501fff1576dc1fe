/// What makes two inputs of a batch the same.
package enum BatchIdentity {
  /// Method, URL, fields and content of a request, whatever it wants otherwise than its client. Streamed contents
  /// can't be told apart.
  package static func key(_ request: Request) -> String {
    var key = request.method.rawValue + " " + request.url
    // Length goes before each name, so that no part can be taken for another.
    for field in request.headers {
      key += "\n\(field.name.utf8.count):\(field.name.lowercased())=\(field.value)"
    }
    switch request.body.content {
    case .empty: return key
    case .bytes(let chunk):
      guard let digest = try? Digest.of(Array(chunk), .sha256) else { return key }
      return key + "\n\n" + digest.hex
    case .file(let path): return key + "\n\n@" + path
    case .stream, .deferred: return key + "\n\n~"
    }
  }
}
