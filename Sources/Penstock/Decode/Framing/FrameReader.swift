/// Reads a body through a framer, one piece of at most 32 KiB at a time: that bounds how many elements wait.
struct FrameReader<Framer: ByteFramer> {
  /// A batch's memory is kept for the next one up to so many elements: an idle stream should hold little.
  private static var keptCapacity: Int { 2048 }
  private static var pieceSize: Int { 32 << 10 }

  /// Nil once there is nothing more to read.
  private var body: ResponseBody.Iterator?
  private let origin: BodyOrigin?
  private(set) var framer: Framer
  /// What is left of the last chunk.
  private var rest = BodyChunk.empty
  private var failure: HTTPError?
  private var hasEnded = false

  init(_ body: ResponseBody, _ framer: Framer) {
    origin = body.origin
    self.body = body.makeAsyncIterator()
    self.framer = framer
  }

  /// Puts the next elements in place of those in `batch`; false at the end.
  mutating func read(into batch: inout [Framer.Element]) async throws(HTTPError) -> Bool {
    batch.removeAll(keepingCapacity: batch.capacity <= Self.keptCapacity)
    while batch.isEmpty {
      if let failure { throw failure }
      if hasEnded { return false }
      if rest.isEmpty {
        guard let chunk = try await nextChunk() else {
          finish(into: &batch)
          continue
        }
        rest = chunk
      }
      feed(into: &batch)
    }
    return true
  }

  private mutating func nextChunk() async throws(HTTPError) -> BodyChunk? {
    guard var iterator = body else { return nil }
    do throws(HTTPError) {
      let chunk = try await iterator.next()
      body = iterator
      return chunk
    } catch {
      fail(error)
      throw failure ?? error
    }
  }

  private mutating func finish(into batch: inout [Framer.Element]) {
    hasEnded = true
    body = nil
    do throws(HTTPError) {
      try framer.finish(into: &batch)
    } catch {
      fail(error)
    }
  }

  private mutating func feed(into batch: inout [Framer.Element]) {
    let end = rest.startIndex + min(rest.count, Self.pieceSize)
    let piece = rest[rest.startIndex..<end]
    rest = end == rest.endIndex ? .empty : rest[end..<rest.endIndex]
    do throws(HTTPError) {
      try framer.feed(piece, into: &batch)
    } catch {
      fail(error)
    }
  }

  /// Ends the exchange; what was framed before is still delivered.
  private mutating func fail(_ error: HTTPError) {
    failure = origin?.naming(error) ?? error
    body = nil
    rest = .empty
  }
}
