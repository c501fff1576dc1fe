import StreamCore
import Testing

@Suite struct LineSplitterTests {
  /// All lines of a stream in pieces; the error's kind as a last line.
  static func lines(
    _ pieces: [[UInt8]], _ ending: LineEnding = .lineFeed, limit: Int = 1000
  ) -> [String] {
    var splitter = LineSplitter(ending: ending, limit: limit)
    var found: [BodyChunk] = []
    var failure: [String] = []
    do throws(HTTPError) {
      for piece in pieces { try splitter.feed(BodyChunk(piece), into: &found) }
      if let line = try splitter.finish() { found.append(line) }
    } catch {
      failure.append("error: \(error.kind.rawValue)")
    }
    return found.map { String(decoding: $0, as: UTF8.self) } + failure
  }

  static func checkEveryCut(
    _ text: String, _ ending: LineEnding, limit: Int = 1000, _ expected: [String]
  ) {
    let bytes = Array(text.utf8)
    for first in 0...bytes.count {
      for second in first...bytes.count {
        let pieces = [
          Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...]),
        ]
        #expect(lines(pieces, ending, limit: limit) == expected, "cut at \(first) and \(second)")
      }
    }
    #expect(lines(bytes.map { [$0] }, ending, limit: limit) == expected)
  }

  @Test func lineFeedEndsALineAndTakesTheCarriageReturnBeforeIt() {
    Self.checkEveryCut(
      "one\ntwo\r\n\n\r\nth\rree\r\r\nlast\r", .lineFeed, ["one", "two", "", "", "th\rree\r", "last\r"])
  }

  @Test func anyOfThreeEndingsByChoice() {
    Self.checkEveryCut(
      "one\ntwo\r\nthree\rfour\r\r\n\n\rlast", .any,
      ["one", "two", "three", "four", "", "", "", "last"])
  }

  @Test func otherSeparatorsOfUnicodeArePartOfTheLine() {
    Self.checkEveryCut(
      "a\u{2028}b\u{2029}c\u{85}d\u{0B}e\u{0C}f\n", .lineFeed, ["a\u{2028}b\u{2029}c\u{85}d\u{0B}e\u{0C}f"])
  }

  @Test func anEndWithoutLineEndingGivesTheRestAndAnEndWithOneGivesNothing() {
    Self.checkEveryCut("a\nb", .lineFeed, ["a", "b"])
    Self.checkEveryCut("a\nb\n", .lineFeed, ["a", "b"])
    Self.checkEveryCut("", .lineFeed, [])
    Self.checkEveryCut("\n", .lineFeed, [""])
  }

  @Test func theLimitIsExactWhateverTheCut() {
    Self.checkEveryCut("abcd\r\nabcd\nabcd", .lineFeed, limit: 4, ["abcd", "abcd", "abcd"])
    Self.checkEveryCut("abcd\r\nabcde\nabc\n", .lineFeed, limit: 4, ["abcd", "error: line_limit"])
    Self.checkEveryCut("abcd\nabcd\r", .lineFeed, limit: 4, ["abcd", "error: line_limit"])
    Self.checkEveryCut("abcd\rabcde", .any, limit: 4, ["abcd", "error: line_limit"])
    Self.checkEveryCut("\n\na", .lineFeed, limit: 0, ["", "", "error: line_limit"])
  }

  @Test func aPairAloneByChoice() {
    Self.checkEveryCut(
      "one\ntwo\r\nth\rree\r\r\n\r\nlast\r", .carriageReturnLineFeed,
      ["one\ntwo", "th\rree\r", "", "last\r"])
    Self.checkEveryCut("abcd\r\nabcde", .carriageReturnLineFeed, limit: 4, ["abcd", "error: line_limit"])
  }

  @Test func aCarriageReturnOrAnyByteAloneByChoice() {
    Self.checkEveryCut("one\rtwo\n\r\rlast", .carriageReturn, ["one", "two\n", "", "last"])
    Self.checkEveryCut("one\u{0}two\n\u{0}\u{0}last", .byte(0), ["one", "two\n", "", "last"])
  }

  @Test func aLineWithoutEndFailsBeforeItFillsMemory() throws {
    var splitter = LineSplitter(limit: 100)
    var lines: [BodyChunk] = []
    for _ in 0..<2 {
      #expect(throws: HTTPError.self) {
        try splitter.feed(BodyChunk([UInt8](repeating: 0x61, count: 101)), into: &lines)
      }
    }
    #expect(throws: HTTPError.self) { _ = try splitter.finish() }
    #expect(lines.isEmpty)
  }

  @Test func theErrorNamesTheLine() {
    var splitter = LineSplitter(limit: 3)
    var lines: [BodyChunk] = []
    let error = #expect(throws: HTTPError.self) {
      try splitter.feed(BodyChunk(Array("abc\nde\nfghi\n".utf8)), into: &lines)
    }
    #expect(error?.message.contains("line 3 ") == true)
    #expect(lines.count == 2)
  }

  @Test func aLineWithinAChunkSharesItsMemory() throws {
    var splitter = LineSplitter()
    var lines: [BodyChunk] = []
    let chunk = BodyChunk(Array("one\ntwo\n".utf8))
    try splitter.feed(chunk, into: &lines)
    let base = chunk.withUnsafeBytes { $0.baseAddress }
    #expect(lines.map { $0.withUnsafeBytes { $0.baseAddress } } == [base, base.map { $0 + 4 }])
  }

  @Test func bytesAreFoundAtEveryPlaceAndAlignment() {
    for length in 0..<80 {
      for place in 0..<length {
        // Neighbours that a careless word scan takes for the byte.
        var bytes = [UInt8](repeating: 0x0B, count: length)
        bytes[place] = 0x0A
        bytes.withUnsafeBytes { all in
          for start in 0...length {
            let expected = start <= place ? place : nil
            #expect(ByteScan.first(0x0A, in: all, from: start) == expected)
            #expect(ByteScan.first(0x0D, or: 0x0A, in: all, from: start) == expected)
            #expect(ByteScan.firstNonASCII(in: all, from: start) == nil)
          }
        }
      }
    }
  }

  @Test func randomStreamsSplitLikeTheModel() {
    let alphabet: [UInt8] = [0x0A, 0x0D, 0x61, 0x62, 0xFF, 0x00]
    for _ in 0..<3000 {
      let bytes = (0..<Int.random(in: 0...60)).map { _ in alphabet.randomElement() ?? 0 }
      var pieces: [[UInt8]] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = Int.random(in: 0...rest.count)
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      var model = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
      let lineCount = model.count - 1
      if model.last?.isEmpty == true { model.removeLast() }
      let expected = model.enumerated().map { index, line in
        let isEnded = index < lineCount
        return String(decoding: isEnded && line.last == 0x0D ? line.dropLast() : line[...], as: UTF8.self)
      }
      #expect(Self.lines(pieces) == expected, "\(bytes)")
    }
  }
}
