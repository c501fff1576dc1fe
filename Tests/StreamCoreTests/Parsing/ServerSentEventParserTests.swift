import StreamCore
import TestSupport
import Testing

@Suite struct ServerSentEventParserTests {
  struct Outcome: Equatable {
    var events: [ServerSentEvent] = []
    var lastEventID = ""
    var reconnectionTime: Int64?
    var failure: HTTPError.Kind?
  }

  static func parse(_ pieces: [[UInt8]], limit: Int = 1000, lastEventID: String = "") -> Outcome {
    var parser = ServerSentEventParser(limit: limit, lastEventID: lastEventID)
    var outcome = Outcome()
    do throws(HTTPError) {
      for piece in pieces { try parser.feed(BodyChunk(piece), into: &outcome.events) }
    } catch {
      outcome.failure = error.kind
    }
    outcome.lastEventID = parser.lastEventID
    outcome.reconnectionTime = parser.reconnectionTime
    return outcome
  }

  /// Parses at every cut, as single bytes, and with CRLF and CR instead of LF.
  static func check(
    _ text: String, limit: Int = 1000, id: String = "", retry: Int64? = nil, failure: HTTPError.Kind? = nil,
    _ events: [ServerSentEvent]
  ) {
    let expected = Outcome(events: events, lastEventID: id, reconnectionTime: retry, failure: failure)
    for ending in ["\n", "\r\n", "\r"] {
      var bytes: [UInt8] = []
      for byte in text.utf8 { bytes += byte == 0x0A ? Array(ending.utf8) : [byte] }
      for cut in 0...bytes.count {
        let outcome = parse([Array(bytes[..<cut]), Array(bytes[cut...])], limit: limit)
        #expect(outcome == expected, "cut at \(cut), ending \(Array(ending.utf8))")
      }
      #expect(parse(bytes.map { [$0] }, limit: limit) == expected)
    }
  }

  @Test func dataLinesAreJoinedWithLineFeeds() {
    Self.check("data: YHOO\ndata: +2\ndata: 10\n\n", [.init(data: "YHOO\n+2\n10")])
    Self.check("data: a\ndata: b\n\n", [.init(data: "a\nb")])
  }

  @Test func commentsAndUnknownFieldsAreLeftOut() {
    Self.check(
      ": test stream\n\ndata: first\nid: 1\n\ndata:second\nid\n\ndata:  third\nmore: x\ndataset: y\nDATA: z\n\n",
      [.init(data: "first", id: "1"), .init(data: "second"), .init(data: " third")])
  }

  @Test func anEventWithoutDataLineIsNotDispatchedButAnEmptyLineOfDataIs() {
    Self.check("data\n\ndata\ndata\n\nevent: x\n\ndata:", [.init(data: ""), .init(data: "\n")])
  }

  @Test func theTypeHoldsForOneEvent() {
    Self.check(
      "event: add\ndata: 1\n\ndata: 2\n\nevent: x\nevent: y\ndata: 3\n\nevent:\ndata: 4\n\n",
      [.init(type: "add", data: "1"), .init(data: "2"), .init(type: "y", data: "3"), .init(data: "4")])
  }

  @Test func theTypeOfAnEventWithoutDataIsForgotten() {
    Self.check("event: gone\n\ndata: 1\n\n", [.init(data: "1")])
  }

  @Test func theIDIsKeptUntilItIsSetAgain() {
    Self.check(
      "id: 7\ndata: a\n\ndata: b\n\nid:8\n\ndata: c\n\n", id: "8",
      [.init(data: "a", id: "7"), .init(data: "b", id: "7"), .init(data: "c", id: "8")])
  }

  @Test func anIDWithNULIsIgnored() {
    Self.check("id: 7\nid: 8\u{0}9\ndata: a\n\n", id: "7", [.init(data: "a", id: "7")])
  }

  @Test func theIDOfAnUnfinishedEventDoesNotCount() {
    Self.check("id: 7\ndata: a\n\nid: 8\ndata: b\n", id: "7", [.init(data: "a", id: "7")])
  }

  @Test func anIDFromAnEarlierConnectionHolds() {
    let outcome = Self.parse([Array("data: a\n\n".utf8)], lastEventID: "41")
    #expect(outcome.events == [.init(data: "a", id: "41")])
  }

  @Test func retryTakesDigitsAlone() {
    Self.check("retry: 2500\nretry: 1.5\nretry: -1\nretry: 3s\nretry:\nretry\n\n", retry: 2500, [])
    Self.check("retry: 99999999999999999999\n\n", [])
    // One blank after the colon is dropped, a second is part of the value.
    Self.check("retry:  7\n\n", [])
  }

  @Test func anUnfinishedEventAtTheEndIsDropped() {
    Self.check("data: a\n\ndata: b\n", [.init(data: "a")])
    Self.check("data: a", [])
    Self.check("", [])
  }

  @Test func oneByteOrderMarkAtTheStartIsLeftOut() {
    Self.check("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n", [.init(data: "a")])
    Self.check("\u{FEFF}\u{FEFF}data: a\n\n", [])
    Self.check("\u{FEFF}\ndata: a\n\n", [.init(data: "a")])
  }

  @Test func aColonInTheValueAndALineOfAColonAreFine() {
    Self.check("data: a:b\n:\ndata:\ndata: :\n\n", [.init(data: "a:b\n\n:")])
  }

  @Test func otherSeparatorsOfUnicodeArePartOfTheData() {
    let text = "a\u{2028}b\u{85}c\u{0C}é\u{1F680}"
    Self.check("data: \(text)\n\n", [.init(data: text)])
  }

  @Test func bytesThatAreNotUTF8AreReplaced() {
    let bytes = Array("data: ".utf8) + [0xFF, 0xC3] + Array("\n\n".utf8)
    for cut in 0...bytes.count {
      let outcome = Self.parse([Array(bytes[..<cut]), Array(bytes[cut...])])
      #expect(outcome.events.map(\.data) == ["\u{FFFD}\u{FFFD}"])
    }
  }

  @Test func aLoneCarriageReturnAtTheEndOfAChunkEndsTheLineAtOnce() {
    let outcome = Self.parse([Array("data: a\r\r".utf8)])
    #expect(outcome.events == [.init(data: "a")])
    let mixed = Self.parse([Array("data: a\r\n\r".utf8), Array("\ndata: b\n\r".utf8), Array("\n\n".utf8)])
    #expect(mixed.events == [.init(data: "a"), .init(data: "b")])
  }

  @Test func theLimitCountsTheDataOfAnEvent() {
    Self.check("data: 1234\ndata: 6789\n\n", limit: 9, [.init(data: "1234\n6789")])
    Self.check(
      "data: 1\n\ndata: 1234\ndata: 67890\n\ndata: 1\n\n", limit: 9, failure: .lineTooLong,
      [.init(data: "1")])
    Self.check("event: 1234567890\ndata: 1\n\n", limit: 9, failure: .lineTooLong, [])
    Self.check("data: \(String(repeating: "x", count: 100))", limit: 9, failure: .lineTooLong, [])
  }

  @Test func anUnendingEventOfEmptyLinesIsLimited() {
    Self.check(String(repeating: "data\n", count: 20), limit: 9, failure: .lineTooLong, [])
  }

  @Test func whatWaitsForItsEndKeepsNoBlockOfThePool() throws {
    let pool = SlabPool()
    var parser = ServerSentEventParser()
    var events: [ServerSentEvent] = []
    do {
      let slab = pool.slab(for: 64 << 10, streaming: false)
      let text = Array("data: waits\n".utf8)
      let count = text.withUnsafeBytes { slab.append($0) }
      try parser.feed(BodyChunk(slab: slab, range: 0..<count), into: &events)
      #expect(events.isEmpty)
    }
    #expect(pool.live == 0)
    try parser.feed(BodyChunk(Array("\n".utf8)), into: &events)
    #expect(events == [.init(data: "waits")])
  }

  @Test func theReconnectionTimeComesWithItsEvent() {
    Self.check(
      "data: a\n\nretry: 500\ndata: b\n\ndata: c\n\nretry: 7\n\nevent: x\nretry: 9\ndata: d\n\n", retry: 9,
      [
        .init(data: "a"), .init(data: "b", retry: 500), .init(data: "c"),
        .init(type: "x", data: "d", retry: 9),
      ])
  }

  @Test func dataOfOneLineWithinAChunkSharesItsMemory() throws {
    var parser = ServerSentEventParser()
    var events: [ServerSentEvent] = []
    let chunk = BodyChunk(Array("data: one\n\ndata: two\n\n".utf8))
    try parser.feed(chunk, into: &events)
    let base = chunk.withUnsafeBytes { $0.baseAddress }
    #expect(
      events.map { $0.bytes.withUnsafeBytes { $0.baseAddress } } == [
        base.map { $0 + 6 }, base.map { $0 + 17 },
      ])
  }

  @Test func randomBytesNeverTrapAndMeanTheSameWhateverTheCuts() {
    let words = ["data", ":", " ", "\n", "\r", "event", "id", "retry", "7", "\u{FEFF}", "é", "\u{0}", "x"]
    var generator = SeededGenerator(seed: 65)
    for _ in 0..<3000 {
      var bytes: [UInt8] = []
      for _ in 0..<generator.next(below: 40) {
        bytes += Array(words[generator.next(below: words.count)].utf8)
      }
      if generator.next(below: 4) == 0 { bytes += generator.bytes(5) }
      let whole = Self.parse([bytes], limit: 20)
      #expect(Self.parse(bytes.map { [$0] }, limit: 20) == whole, "\(bytes)")
      #expect(Self.parse(generator.pieces(of: bytes), limit: 20) == whole, "\(bytes)")
    }
  }
}
