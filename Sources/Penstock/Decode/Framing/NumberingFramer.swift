/// Numbers the records of another framer.
struct NumberingFramer<Base: ByteFramer<BodyChunk>>: ByteFramer {
  private var base: Base
  private var found: [BodyChunk] = []
  private var number: Int64 = 0

  init(_ base: Base) { self.base = base }

  mutating func feed(_ bytes: BodyChunk, into elements: inout [StreamRecord]) throws(HTTPError) {
    defer { take(into: &elements) }
    try base.feed(bytes, into: &found)
  }

  mutating func finish(into elements: inout [StreamRecord]) throws(HTTPError) {
    defer { take(into: &elements) }
    try base.finish(into: &found)
  }

  private mutating func take(into elements: inout [StreamRecord]) {
    for bytes in found {
      number += 1
      elements.append(StreamRecord(bytes: bytes, number: number))
    }
    found.removeAll(keepingCapacity: found.capacity <= 2048)
  }
}
