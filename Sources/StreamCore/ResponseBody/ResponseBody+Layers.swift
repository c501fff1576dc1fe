extension ResponseBody {
  /// The bytes of any asynchronous sequence of byte buffers as a body, for everything that bodies can do.
  ///
  /// - Parameters:
  ///   - stream: iterated once, no faster than the body is read; what it throws is thrown by the body, errors of
  ///     other types as `HTTPError.Kind.readFailed`.
  ///   - length: the sum of all buffers in bytes, where it is known; it isn't checked.
  public init<S: AsyncSequence & Sendable>(
    stream: S, length: Int64? = nil
  ) where S.Element: Sequence<UInt8> & Sendable {
    self.init(
      source: SequenceBodySource(stream, phase: .body, failing: "the stream that makes the body failed"),
      contentLength: length)
  }

  /// The body as a layer above changes it. The layer takes this body at once; of a body that was taken before
  /// nothing can be read.
  ///
  /// - Parameter keepsLength: whether as many bytes come out as go in.
  package func layered(
    keepsLength: Bool, _ layer: (any BodySource) -> any BodySource
  ) -> ResponseBody {
    guard let source = claimSource() else { return ResponseBody(taken: origin) }
    return ResponseBody(
      source: layer(source), contentLength: keepsLength ? contentLength : nil,
      isEndVerifiable: isEndVerifiable, origin: origin)
  }
}
