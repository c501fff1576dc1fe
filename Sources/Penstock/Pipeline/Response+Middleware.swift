extension Response {
  /// A response that a middleware gives itself: a cached or made-up one.
  ///
  /// - Parameters:
  ///   - head: its head.
  ///   - body: its body.
  ///   - url: the URL that it stands for.
  public init(head: ResponseHead, body: ResponseBody, url: String) {
    self.init(
      head: head, url: url, history: [], facts: ExchangeFacts(), body: body, exchange: nil,
      announcedLength: body.contentLength, wireCounter: nil)
  }

  /// A copy with another head, for middlewares that change fields or status. The body stays the same one.
  public func replacingHead(_ head: ResponseHead) -> Response {
    Response(
      head: head, url: url, history: history, facts: facts, body: body, exchange: exchange,
      announcedLength: announcedLength, wireCounter: wireCounter, attempts: attempts)
  }

  /// A copy with another body, of bytes that are here: a cached or collected one.
  public func replacingBody(_ body: ResponseBody) -> Response {
    Response(
      head: head, url: url, history: history, facts: facts, body: body, exchange: exchange,
      announcedLength: announcedLength, wireCounter: wireCounter, attempts: attempts)
  }

  /// A copy whose body is what a closure makes of this one's: counted, hashed, copied aside, changed. Nothing is
  /// read ahead; the reader's pace still reaches the socket, and leaving the new body ends the exchange.
  ///
  /// ```swift
  /// let response = try await next(request)
  /// return response.mappingBody { body in body.map { chunk in meter.add(chunk.count); return chunk } }
  /// ```
  ///
  /// - Parameters:
  ///   - keepsLength: whether the new body has as many bytes as the old one.
  ///   - transform: gets the body, as the sequence to read; what it returns is iterated once. An error of its
  ///     own is thrown to the reader as `HTTPError.Kind.readFailed`.
  public func mappingBody<Mapped: AsyncSequence & Sendable>(
    keepsLength: Bool = false, _ transform: (ResponseBody) -> Mapped
  ) -> Response where Mapped.Element == BodyChunk {
    guard let source = body.claimSource() else { return self }
    let counted = CountedBodySource(source)
    let mapped = MappedBodySource(
      transform(
        ResponseBody(source: counted, contentLength: body.contentLength, origin: body.origin)))
    return replacingBody(mapped, keepsLength: keepsLength, counter: wireCounter ?? counted)
  }

  /// A copy whose chunks a closure sees as they pass, in the reader's task.
  ///
  /// - Parameters:
  ///   - end: called once, at the body's end (nil) or with its failure; not when the reader leaves early.
  ///   - chunk: called with each chunk.
  public func inspectingBody(
    end: @escaping @Sendable (HTTPError?) -> Void = { _ in }, _ chunk: @escaping @Sendable (BodyChunk) -> Void
  ) -> Response {
    guard let source = body.claimSource() else { return self }
    return replacingBody(
      InspectedBodySource(source, chunk: chunk) { ending in
        switch ending {
        case .complete: end(nil)
        case .failed(let error): end(error)
        case .left: break
        }
      }, keepsLength: true, counter: wireCounter)
  }

  /// A copy that tells once how the body ended.
  func observingBodyEnd(_ ended: @escaping @Sendable (InspectedBodySource.Ending) -> Void) -> Response {
    guard let source = body.claimSource() else {
      ended(.left)
      return self
    }
    return replacingBody(
      InspectedBodySource(source, chunk: nil, ended: ended), keepsLength: true, counter: wireCounter)
  }

  /// A copy whose guards are told of its body's end; itself where none of them waits for that.
  func guarded(by passes: GuardPasses?) -> Response {
    guard let passes, passes.lastWithBody else { return self }
    guard let source = body.claimSource() else {
      passes.bodyEnded()
      return self
    }
    return replacingBody(GuardedBodySource(source, passes), keepsLength: true, counter: wireCounter)
  }

  private func replacingBody(
    _ source: any BodySource, keepsLength: Bool, counter: (any WireCounting)?
  ) -> Response {
    let body = ResponseBody(
      source: source, contentLength: keepsLength ? body.contentLength : nil,
      isEndVerifiable: body.isEndVerifiable, origin: self.body.origin)
    return Response(
      head: head, url: url, history: history, facts: facts, body: body, exchange: exchange,
      announcedLength: announcedLength, wireCounter: counter, attempts: attempts)
  }

  /// Nobody reads it. One that is here whole leaves its connection usable.
  func discard() {
    exchange?.finishUnread()
    body.claimSource()?.abandon()
  }
}
