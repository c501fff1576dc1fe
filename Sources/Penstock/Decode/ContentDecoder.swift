/// Undoes the content codings of one body: bytes from the wire in, decoded pieces out, as they are asked for.
///
/// Memory is bounded by the decoders' windows and one piece for each coding, whatever the input. Feed a
/// chunk, then call `next()` until it gives nil; at the end of the body call `finish()`. A body of no bytes
/// at all is an empty body under any coding, as curl has it. After an error every call throws it again.
/// For one task at a time.
package final class ContentDecoder {
  /// One coding with what waits before it.
  private struct Step {
    let stage: any DecodingStage
    var input = BodyChunk.empty
    /// The last output was full: there may be more without further input.
    var mayHoldOutput = false
    var produced: Int64 = 0
  }

  /// A tail of a slab smaller than this isn't worth a call.
  private static let minimumRoom = 16 << 10

  private let limits: DecodingLimits
  private let pool: SlabPool
  private var steps: [Step]
  private var fed: [BodyChunk] = []
  private var nextFed = 0
  private var slab: Slab?
  private var failure: HTTPError?

  /// How many bytes were fed.
  package private(set) var wireBytes: Int64 = 0
  /// How many bytes have come out.
  package var decodedBytes: Int64 { steps.last?.produced ?? 0 }

  /// A decoder for what `Content-Encoding` says; nil when there is nothing to undo.
  ///
  /// Throws `.contentEncoding` for an unknown coding or too many of them, `.outOfResources` for want of
  /// memory.
  package convenience init?(
    headers: HTTPFields, limits: DecodingLimits = .standard, pool: SlabPool = SlabPool(keep: 2)
  ) throws(HTTPError) {
    let codings = try ContentCoding.applied(in: headers)
    if codings.isEmpty { return nil }
    try self.init(codings: codings, limits: limits, pool: pool)
  }

  /// A decoder for codings in the order in which they were applied.
  package init(
    codings: [ContentCoding], limits: DecodingLimits = .standard, pool: SlabPool = SlabPool(keep: 2)
  ) throws(HTTPError) {
    self.limits = limits
    self.pool = pool
    var steps: [Step] = []
    for coding in codings.reversed() { steps.append(Step(stage: try coding.makeStage())) }
    self.steps = steps
  }

  /// A decoder for a gzip file, which zeros may follow.
  init(
    gzipFileWithin limits: DecodingLimits, pool: SlabPool = SlabPool(keep: 2)
  ) throws(HTTPError) {
    self.limits = limits
    self.pool = pool
    steps = [Step(stage: try GzipStage(allowsPadding: true))]
  }

  /// Whether such a response has a body that could be decoded: not for HEAD, CONNECT, 1xx, 204 and 304,
  /// whose `Content-Encoding` tells only what a GET would have got.
  package static func applies(method: HTTPMethod, status: HTTPStatus) -> Bool {
    method != .head && method.rawValue != "CONNECT" && !status.isInformational && status != 204
      && status != 304
  }

  /// Hands in bytes from the wire; they are kept until `next()` has used them.
  package func feed(_ chunk: BodyChunk) {
    wireBytes += Int64(chunk.count)
    if !chunk.isEmpty { fed.append(chunk) }
  }

  /// The next decoded piece, at most 64 KiB and never empty; nil: more input is wanted.
  package func next() throws(HTTPError) -> BodyChunk? {
    if let failure { throw failure }
    do throws(HTTPError) {
      let piece = try pull(steps.count - 1)
      // A stream that waits holds no block.
      if piece == nil { slab = nil }
      return piece
    } catch {
      fail(error)
      throw error
    }
  }

  /// The body has ended: throws `.truncated` unless every coding came to its end. For after `next()` has
  /// given nil.
  package func finish() throws(HTTPError) {
    if let failure { throw failure }
    do throws(HTTPError) {
      for step in steps { try step.stage.finish() }
    } catch {
      fail(error)
      throw error
    }
  }

  private func fail(_ error: HTTPError) {
    failure = error
    steps = []
    fed = []
    nextFed = 0
    slab = nil
  }

  private func pull(_ index: Int) throws(HTTPError) -> BodyChunk? {
    guard index >= 0 else { return takeFed() }
    while true {
      if steps[index].input.isEmpty && !steps[index].mayHoldOutput {
        guard let chunk = try pull(index - 1) else { return nil }
        steps[index].input = chunk
      }
      if let piece = try run(index) { return piece }
    }
  }

  private func takeFed() -> BodyChunk? {
    guard nextFed < fed.count else {
      fed.removeAll(keepingCapacity: true)
      nextFed = 0
      return nil
    }
    let chunk = fed[nextFed]
    fed[nextFed] = .empty
    nextFed += 1
    return chunk
  }

  /// One call of a stage; nil when it gave no bytes.
  private func run(_ index: Int) throws(HTTPError) -> BodyChunk? {
    let step = steps[index]
    let slab = slabWithRoom()
    let output = slab.tail
    let progress = try step.input.withUnsafeBytes { (input) throws(HTTPError) in
      try step.stage.decode(input, into: output)
    }
    steps[index].input = step.input.dropFirst(progress.consumed)
    steps[index].mayHoldOutput = progress.produced == output.count
    if progress.produced == 0 {
      if progress.consumed == 0 && !step.input.isEmpty {
        throw HTTPError(.contentEncoding, phase: .decode, message: "the content can't be decoded any further")
      }
      return nil
    }
    steps[index].produced += Int64(progress.produced)
    try limits.check(produced: steps[index].produced, wire: wireBytes)
    if index == steps.count - 1 { try limits.check(size: steps[index].produced) }
    let start = slab.used
    let piece = BodyChunk(slab: slab, range: start..<start + progress.produced)
    let exact = piece.compacted()
    // What was copied out leaves the block's tail free for the next piece.
    if progress.produced > SlabPool.exactLimit { slab.commit(progress.produced) }
    return exact
  }

  private func slabWithRoom() -> Slab {
    if let slab, slab.room >= Self.minimumRoom { return slab }
    let fresh = pool.slab(for: SlabPool.smallSize, streaming: false)
    slab = fresh
    return fresh
  }
}
