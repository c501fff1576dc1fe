/// The trailer section of a request (RFC 9110 §6.5): names said ahead, values known when the body has ended.
package struct RequestTrailers: Sendable {
  package let names: [String]
  package let values: @Sendable () async throws -> HTTPFields

  package init(_ names: [String], _ values: @escaping @Sendable () async throws -> HTTPFields) {
    self.names = names
    self.values = values
  }

  /// Fields that decide how a message is read, and so must stand in front (RFC 9110 §6.5.1).
  private static let neverTrailers: Set<String> = [
    "content-length", "transfer-encoding", "content-encoding", "content-type", "content-range", "host",
    "trailer", "authorization", "proxy-authorization", "cookie", "expect", "te", "connection", "range",
    "max-forwards", "cache-control", "if-match", "if-none-match", "if-range", "set-cookie",
  ]

  /// The first name that can't be a trailer.
  package var firstUnusableName: String? {
    names.first {
      $0.isEmpty || !$0.utf8.allSatisfy(FieldSyntax.isTokenByte)
        || Self.neverTrailers.contains($0.lowercased())
    }
  }

  /// The fields, once the body has ended.
  package func made() async throws(HTTPError) -> HTTPFields {
    let fields: HTTPFields
    do {
      fields = try await values()
    } catch {
      throw .thrown(
        error, or: .readFailed, phase: .request,
        "the closure that makes the request's trailers failed: \(error)")
    }
    if let field = fields.firstInvalidField {
      throw HTTPError(.invalidHeader, phase: .request, message: "the trailer \"\(field.name)\" \(field.why)")
    }
    let announced = Set(names.map { $0.lowercased() })
    for field in fields where !announced.contains(field.name.lowercased()) {
      throw HTTPError(
        .invalidHeader, phase: .request, message: "the trailer \"\(field.name)\" wasn't announced",
        advice: "Name every trailer when the body is made")
    }
    return fields
  }
}
