extension Request {
  /// Makes the body what goes out (forms put together, coding put on) and sets the fields that speak of it, so that a
  /// signature is over what the server gets. The encoder finds nothing left to do.
  mutating func settleBody() throws(HTTPError) {
    let fields = EncodedBody.fields(of: self)
    var isDeferred = false
    if case .deferred = body.content { isDeferred = true }
    guard isDeferred || !fields.isEmpty else { return }
    let unwanted = Set(withoutDefaults.map { $0.lowercased() })
    // Without the field the encoder would put the coding on once more.
    if fields.contains("Content-Encoding"), unwanted.contains("content-encoding") { return }
    let settled = try EncodedBody(self).body
    for name in ["Content-Type", "Content-Encoding"] where !headers.contains(name) {
      if !unwanted.contains(name.lowercased()), let value = fields[name] { headers.append(name, value) }
    }
    body = settled
  }
}
