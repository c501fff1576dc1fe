import CurlTransport
import StreamCore

/// The text that an HTTP message signature is over (RFC 9421 §2). Pure.
struct SignatureBase: Sendable {
  /// What is told of a signature beside its components (RFC 9421 §2.3), in the order in which it is written.
  struct Parameters: Sendable, Hashable {
    var created: Int64?
    var expires: Int64?
    var nonce: String?
    var algorithm: String?
    var keyID: String?
    var tag: String?

    var text: String {
      var text = ""
      if let created { text += ";created=\(created)" }
      if let expires { text += ";expires=\(expires)" }
      if let nonce { text += ";nonce=\(SignatureBase.quoted(nonce))" }
      if let algorithm { text += ";alg=\(SignatureBase.quoted(algorithm))" }
      if let keyID { text += ";keyid=\(SignatureBase.quoted(keyID))" }
      if let tag { text += ";tag=\(SignatureBase.quoted(tag))" }
      return text
    }
  }

  var components: [MessageSignature.Component]
  var parameters: Parameters

  /// The value of `@signature-params`, which is also that of the field Signature-Input.
  var input: String { "(" + components.map(\.identifier).joined(separator: " ") + ")" + parameters.text }

  /// The text for a request. Throws `HTTPError.Kind.invalidConfiguration` for a component that it doesn't have or
  /// that is named twice.
  func text(of request: Request) throws(HTTPError) -> String {
    let target = try RequestTarget(request.url)
    var lines: [String] = []
    var seen: Set<String> = []
    for component in components {
      guard seen.insert(component.identifier).inserted else {
        throw Self.refused(component, "is named twice", request)
      }
      for value in try values(component, request, target) {
        lines.append("\(component.identifier): \(value)")
      }
    }
    lines.append("\"@signature-params\": \(input)")
    return lines.joined(separator: "\n")
  }

  private func values(
    _ component: MessageSignature.Component, _ request: Request, _ target: RequestTarget
  ) throws(HTTPError) -> [String] {
    switch component.kind {
    case .method: return [request.method.rawValue]
    case .targetURI: return [target.url.text]
    case .authority: return [HTTPOrigin(target.url).authority]
    case .scheme: return [target.url.scheme]
    case .requestTarget: return [target.pathAndQuery]
    case .path: return [target.path]
    case .query: return ["?" + (target.query ?? "")]
    case .queryParameter(let name):
      // Repeated parameters stand one below the other (RFC 9421 §2.2.8).
      let items = Self.items(target.query ?? "").filter { $0.name == name }
      guard !items.isEmpty else { throw Self.refused(component, "isn't in the query", request) }
      return items.map(\.value)
    case .field(let name):
      if name == "content-length", !request.headers.contains(name), let length = request.body.length {
        return [String(length)]
      }
      if name == "host", !request.headers.contains(name) { return [HTTPOrigin(target.url).authority] }
      let values = request.headers[all: name]
      guard !values.isEmpty else { throw Self.refused(component, "isn't a field of the request", request) }
      return [values.map { FieldSyntax.trimmed($0) }.joined(separator: ", ")]
    }
  }

  /// Query items decoded as forms are, then encoded again: both sides agree whatever was written.
  private static func items(_ query: String) -> [(name: String, value: String)] {
    query.split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      func again(_ text: Substring) -> String {
        let spaced = text.split(separator: "+", omittingEmptySubsequences: false).joined(separator: "%20")
        return PercentEncoding.encode(PercentEncoding.decode(spaced))
      }
      return (again(parts[0]), parts.count > 1 ? again(parts[1]) : "")
    }
  }

  static func quoted(_ text: String) -> String {
    "\""
      + text.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
      .split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"") + "\""
  }

  private static func refused(
    _ component: MessageSignature.Component, _ why: String, _ request: Request
  ) -> HTTPError {
    HTTPError(
      .invalidConfiguration, phase: .queue,
      message: "the signature's component \(component.identifier) \(why)",
      advice: "Sign what the request itself has; fields that the client adds by default don't count",
      method: request.method, url: request.url)
  }
}
