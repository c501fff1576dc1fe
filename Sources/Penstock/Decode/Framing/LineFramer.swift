/// Lines as bytes, without their endings. A line that lies within one piece shares its memory.
public struct LineFramer: ByteFramer {
  private var splitter: LineSplitter

  /// Lines of at most `limit`, their ending not counted; a longer one throws `HTTPError.Kind.lineTooLong`.
  public init(endingWith ending: LineEnding = .lineFeed, limit: ByteCount = .mebibytes(16)) {
    splitter = LineSplitter(ending: ending, limit: Int(clamping: limit.bytes))
  }

  /// Appends the lines that end in these bytes.
  public mutating func feed(_ bytes: BodyChunk, into elements: inout [BodyChunk]) throws(HTTPError) {
    try splitter.feed(bytes, into: &elements)
  }

  /// Appends what stands after the last line ending.
  public mutating func finish(into elements: inout [BodyChunk]) throws(HTTPError) {
    if let line = try splitter.finish() { elements.append(line) }
  }
}
