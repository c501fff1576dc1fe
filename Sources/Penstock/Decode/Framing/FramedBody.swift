/// A body as the elements that a framer makes of it, at the reader's pace.
///
/// Leaving the loop ends the exchange. A body can be read once; a second iteration throws
/// `HTTPError.Kind.alreadyConsumed`.
public struct FramedBody<Framer: ByteFramer>: AsyncSequence, Sendable {
  /// What the framer makes.
  public typealias Element = Framer.Element
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  private let body: ResponseBody
  private let framer: Framer

  init(_ body: ResponseBody, _ framer: Framer) {
    self.body = body
    self.framer = framer
  }

  /// The one iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(FrameReader(body, framer)) }

  /// The elements as they come together, for loops where each turn counts: an array for every piece of up to
  /// 32 KiB that completes any.
  public var batches: Batches { Batches(body: body, framer: framer) }

  /// Hands out the elements.
  public struct Iterator: AsyncIteratorProtocol {
    /// What is ready, the next one last: taken out there, an element isn't copied, and its memory not counted.
    @usableFromInline var ready: [Framer.Element] = []
    private var reader: FrameReader<Framer>

    init(_ reader: FrameReader<Framer>) { self.reader = reader }

    /// The next element, nil at the end.
    ///
    /// - Throws: what the framer throws, and whatever ended the body.
    @inlinable
    public mutating func next() async throws(HTTPError) -> Framer.Element? {
      if let element = ready.popLast() { return element }
      guard try await refill() else { return nil }
      // Here, where the type of the elements is known.
      ready.reverse()
      return ready.popLast()
    }

    /// The next element, nil at the end, without leaving the caller's actor.
    @inlinable
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(HTTPError) -> Framer.Element? {
      if let element = ready.popLast() { return element }
      guard try await refill() else { return nil }
      // Here, where the type of the elements is known.
      ready.reverse()
      return ready.popLast()
    }

    @usableFromInline
    mutating func refill() async throws(HTTPError) -> Bool { try await reader.read(into: &ready) }
  }

  /// The elements as they come together.
  public struct Batches: AsyncSequence, Sendable {
    /// At least one element.
    public typealias Element = [Framer.Element]
    /// Every failure is an `HTTPError`.
    public typealias Failure = HTTPError

    let body: ResponseBody
    let framer: Framer

    /// The one iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: FrameReader(body, framer)) }

    /// Hands out the batches.
    public struct Iterator: AsyncIteratorProtocol {
      var reader: FrameReader<Framer>

      /// The next batch, nil at the end.
      public mutating func next() async throws(HTTPError) -> [Framer.Element]? {
        var batch: [Framer.Element] = []
        return try await reader.read(into: &batch) ? batch : nil
      }

      /// The next batch, nil at the end, without leaving the caller's actor.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(HTTPError) -> [Framer.Element]? {
        try await next()
      }
    }
  }
}

extension ResponseBody {
  /// The body as the elements that a framer of your own makes of it.
  ///
  /// ```swift
  /// for try await record in response.body.decoded(by: Records()) { … }
  /// ```
  public func decoded<Framer: ByteFramer>(by framer: Framer) -> FramedBody<Framer> {
    FramedBody(self, framer)
  }
}
