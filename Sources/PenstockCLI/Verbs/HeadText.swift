import Penstock

/// Heads as text.
enum HeadText {
  /// As on an HTTP/1 wire, for `-i` and `-I`.
  static func wire(_ head: ResponseHead) -> String {
    var text = "HTTP/\(head.version) \(head.status)"
    if !head.reason.isEmpty { text += " " + head.reason }
    text += "\r\n"
    for field in head.headers { text += "\(field.name): \(field.value)\r\n" }
    return text + "\r\n"
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
