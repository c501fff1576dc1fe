import CurlTransport

/// Request bodies with a coding put on.
enum CodedBody {
  /// What is coded at once, so that its length is known.
  private static let small = 64 << 10

  static func coded(_ body: RequestBody, _ coding: BodyCoding) throws(HTTPError) -> RequestBody {
    switch body.content {
    case .empty: return body
    case .deferred: return try coded(try body.made(), coding)
    case .file(let path): return body.replacingContent(with: try coded(try FileBody.opened(path), coding))
    case .bytes(let chunk):
      if chunk.count <= small { return body.replacingContent(with: .bytes(try coded(chunk, coding))) }
      return body.replacingContent(with: stream(coding, isReplayable: true) { ChunkSource(chunk) })
    case .stream(let make):
      return body.replacingContent(with: stream(coding, isReplayable: body.isReplayable, make))
    }
  }

  private static func stream(
    _ coding: BodyCoding, isReplayable: Bool, _ make: @escaping @Sendable () -> any BodySource
  ) -> RequestBody {
    .source(length: nil, isReplayable: isReplayable) { CodedBodySource(make(), coding) }
  }

  private static func coded(_ chunk: BodyChunk, _ coding: BodyCoding) throws(HTTPError) -> [UInt8] {
    guard let deflater = BodyDeflater(coding) else { throw CodedBodySource.outOfMemory }
    var coded: [UInt8] = []
    var output = [UInt8](repeating: 0, count: 16 << 10)
    chunk.withUnsafeBytes { bytes in
      var position = 0
      while true {
        let step = output.withUnsafeMutableBytes {
          deflater.deflate(UnsafeRawBufferPointer(rebasing: bytes[position...]), into: $0, isLast: true)
        }
        position += step.consumed
        coded += output[..<step.produced]
        if step.isDone { return }
      }
    }
    return coded
  }
}

/// Codes what another source gives, a block at a time.
final class CodedBodySource: BodySource, @unchecked Sendable {
  // Sendable: one task at a time reads it.
  static let outOfMemory = HTTPError(
    .outOfResources, phase: .request, message: "zlib has no memory to code the body")
  private static let block = 64 << 10

  private let source: any BodySource
  private let coding: BodyCoding
  /// Nil: zlib's own.
  private let level: Int32?
  private var deflater: BodyDeflater?
  private var input: BodyChunk?
  private var isSourceEmpty = false
  private var hasEnded = false

  init(_ source: any BodySource, _ coding: BodyCoding, level: Int32? = nil) {
    self.source = source
    self.coding = coding
    self.level = level
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    if hasEnded { return nil }
    guard let deflater = deflater ?? level.map({ BodyDeflater(coding, level: $0) }) ?? BodyDeflater(coding)
    else {
      throw Self.outOfMemory
    }
    self.deflater = deflater
    let slab = Slab(capacity: Self.block)
    while slab.room > 0 {
      if input == nil, !isSourceEmpty {
        input = try await source.next()
        isSourceEmpty = input == nil
      }
      guard let chunk = input else {
        end(deflater, slab)
        break
      }
      let step = chunk.withUnsafeBytes { deflater.deflate($0, into: slab.tail, isLast: false) }
      slab.commit(step.produced)
      input = step.consumed == chunk.count ? nil : chunk[(chunk.startIndex + step.consumed)...]
    }
    return slab.used > 0 ? BodyChunk(slab: slab, range: 0..<slab.used) : hasEnded ? nil : try await next()
  }

  private func end(_ deflater: BodyDeflater, _ slab: Slab) {
    let step = deflater.deflate(UnsafeRawBufferPointer(start: nil, count: 0), into: slab.tail, isLast: true)
    slab.commit(step.produced)
    if step.isDone {
      hasEnded = true
      self.deflater = nil
    }
  }

  func abandon() {
    hasEnded = true
    deflater = nil
    input = nil
    source.abandon()
  }
}
