import Penstock

/// Heads as text.
enum HeadText {
  /// As on an HTTP/1 wire, for `-i` and `-I`; values as the bytes that came.
  static func wire(_ head: ResponseHead) -> [UInt8] {
    var text = Array("HTTP/\(head.version) \(head.status)".utf8)
    if !head.reason.isEmpty { text += Array(" \(head.reason)".utf8) }
    text += Array("\r\n".utf8)
    var seen: [String: Int] = [:]
    for field in head.headers {
      let repeats = seen[field.name.lowercased(), default: 0]
      seen[field.name.lowercased()] = repeats + 1
      text += Array("\(field.name): ".utf8) + head.headers.rawValues(field.name)[repeats]
      text += Array("\r\n".utf8)
    }
    return text + Array("\r\n".utf8)
  }
}

/// What `-v` tells on standard error; secrets are cut.
struct Trace {
  /// Writes a line, by standard error's own way.
  var say: (String) -> Void = StandardError.say

  func request(_ request: Request, _ client: Client) {
    line("> \(request)")
    fields(client.headers(for: request), mark: ">")
  }

  func redirect(_ hop: RedirectHop) {
    line("* redirect \(hop.status) from \(hop.from) to \(hop.to) with \(hop.method)")
  }

  func retry(_ retry: RetryAttempt) {
    line("* attempt \(retry.number - 1) failed: \(retry.reason)")
    line("* attempt \(retry.number) follows in \(ProgressFormat.duration(retry.delay))")
  }

  func head(_ head: ResponseHead, _ facts: ExchangeFacts? = nil) {
    if let connection = facts?.connection {
      line("* \(connection.reused ? "kept" : "new") connection \(connection.local) → \(connection.remote)")
    }
    line("< HTTP/\(head.version) \(head.status) \(head.reason)")
    fields(head.headers, mark: "<")
  }

  func waiting(_ delay: Duration, _ error: HTTPError?) {
    let reason = error.map { $0.message } ?? "the stream has ended"
    line("* \(reason); connecting again in \(JSONText.seconds(delay)) s")
  }

  func trailers(_ fields: HTTPFields) { self.fields(fields, mark: "< trailer") }

  private func fields(_ fields: HTTPFields, mark: String) {
    for text in fields.description.split(separator: "\n") { line("\(mark) \(text)") }
  }

  private func line(_ text: String) { say(text) }
}
