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
  func request(_ request: Request, _ client: Client) {
    line("> \(request)")
    fields(client.headers(for: request), mark: ">")
  }

  func response(_ response: Response) {
    for hop in response.history {
      line("* redirect \(hop.status) from \(hop.from) to \(hop.to) with \(hop.method)")
    }
    let connection = response.facts.connection
    line("* \(connection.reused ? "kept" : "new") connection \(connection.local) → \(connection.remote)")
    line("< HTTP/\(response.version) \(response.status) \(response.head.reason)")
    fields(response.headers, mark: "<")
  }

  func trailers(_ fields: HTTPFields) { self.fields(fields, mark: "< trailer") }

  private func fields(_ fields: HTTPFields, mark: String) {
    for text in fields.description.split(separator: "\n") { line("\(mark) \(text)") }
  }

  private func line(_ text: String) { try? DescriptorWriter.standardError.write(text + "\n") }
}
