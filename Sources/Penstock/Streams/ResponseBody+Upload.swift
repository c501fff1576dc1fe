extension RequestBody {
  /// The body of a response as the content of a request, chunk by chunk, no faster than the peer takes it and without
  /// a copy. It can be sent once. What ends it is thrown by the request.
  public static func body(_ body: ResponseBody) -> RequestBody {
    .source(length: body.contentLength, isReplayable: false) { [origin = body.origin] in
      body.claimSource() ?? FailedSource.taken(origin)
    }
  }
}

extension FailedSource {
  /// A body that was read before.
  static func taken(_ origin: BodyOrigin?) -> FailedSource {
    let error = ResponseBody.alreadyConsumed
    return FailedSource(FixedBodySource(.empty), origin?.naming(error) ?? error)
  }
}

extension ResponseBody {
  /// Sends this body as the content of a request, as it arrives: the receiving server's pace holds the sending one.
  ///
  /// ```swift
  /// let copy = try await client.send(.get(from)).body.uploaded(by: client, as: .put(to))
  /// ```
  ///
  /// - Parameter request: method, URL and fields; its own content is replaced. The length is announced where it is
  ///   known.
  /// - Returns: the answer, as `Client.send(_:)` gives it.
  /// - Throws: what `Client.send(_:)` throws, and what reading this body throws.
  public func uploaded(by client: Client, as request: Request) async throws(HTTPError) -> Response {
    var request = request
    request.body = .body(self)
    return try await client.send(request)
  }
}
