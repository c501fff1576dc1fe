/// One part of a multipart body.
public struct MultipartPart: Sendable {
  /// Its header fields.
  public let headers: HTTPFields
  /// Its content, to be read before the next part is asked for: what is left then is passed over, and a later reader of it
  /// gets `HTTPError.Kind.alreadyConsumed`.
  public let body: ResponseBody

  /// Which bytes of the whole they are, in a part of `multipart/byteranges` (RFC 9110 §14.4); nil where it doesn't say.
  public var range: ClosedRange<Int64>? {
    guard case .satisfied(let first, let last, _)? = headers["Content-Range"].flatMap(ContentRange.init)
    else {
      return nil
    }
    return first...last
  }

  /// How long the whole is, in a part of `multipart/byteranges`; nil where it doesn't say.
  public var completeLength: Int64? {
    switch headers["Content-Range"].flatMap(ContentRange.init) {
    case .satisfied(_, _, let complete): complete
    case .unsatisfied(let complete): complete
    case nil: nil
    }
  }
}

/// The parts of a multipart body, as they arrive.
///
/// A part's body is read at the reader's pace and never held; see `MultipartPart.body`. Leaving the loop ends the
/// exchange.
public struct MultipartParts: AsyncSequence, Sendable {
  /// A part.
  public typealias Element = MultipartPart
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  let body: ResponseBody
  let boundary: String

  /// The one iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(reader: MultipartReader(body, boundary: boundary)) }

  /// Hands out the parts.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: MultipartReader

    /// The next part; nil behind the last one.
    ///
    /// - Throws: `HTTPError.Kind.invalidRecord` for a body that isn't in the form, `headTooLarge` for a part's head above
    ///   64 KiB, `truncated` where the last boundary is missing, and whatever ended the body.
    public mutating func next() async throws(HTTPError) -> MultipartPart? { try await reader.nextPart() }

    /// The next part, without leaving the caller's actor.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(HTTPError) -> MultipartPart? {
      try await next()
    }
  }
}

extension ResponseBody {
  /// The parts of a multipart body with this boundary (RFC 2046 §5.1): `multipart/mixed`, `multipart/byteranges` and
  /// their kin.
  public func multipartParts(boundary: String) -> MultipartParts {
    MultipartParts(body: self, boundary: boundary)
  }
}

extension Response {
  /// The parts of a multipart response, such as one to a request for several ranges.
  ///
  /// ```swift
  /// for try await part in try response.multipartParts() {
  ///   let bytes = try await part.body.collect(upTo: .mebibytes(1))
  /// }
  /// ```
  ///
  /// - Throws: `HTTPError.Kind.contentType` when the Content-Type isn't multipart or has no boundary.
  public func multipartParts() throws(HTTPError) -> MultipartParts {
    guard let boundary = headers["Content-Type"].flatMap(MultipartBoundary.of) else {
      let error = HTTPError(
        .contentType, phase: .head,
        message: "the content is \"\(headers["Content-Type"] ?? "of no type")\", no multipart with a boundary"
      )
      throw body.origin?.naming(error) ?? error
    }
    return body.multipartParts(boundary: boundary)
  }
}
