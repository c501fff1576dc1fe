import StreamCore
import TestSupport
import Testing

@Suite struct JSONScannerTests {
  /// Whether bytes are one JSON value; nil when they are the beginning of one.
  static func judge(_ pieces: [[UInt8]]) -> Bool? {
    var scanner = JSONScanner(watching: -1)
    for piece in pieces {
      var position = 0
      let event = piece.withUnsafeBytes { scanner.next($0, &position) }
      if case .invalid = event { return false }
    }
    return scanner.finish() == .complete ? true : nil
  }

  static func judge(_ text: String) -> Bool? {
    let bytes = Array(text.utf8)
    let whole = judge([bytes])
    for cut in 0...bytes.count {
      #expect(judge([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "\(text) cut at \(cut)")
    }
    #expect(judge(bytes.map { [$0] }) == whole, "\(text) byte by byte")
    return whole
  }

  @Test(arguments: [
    "0", "-0", "10", "-1.5e+10", "1E5", "0.0", "0e0", "true", "false", "null", "\"\"", "\"é\u{2028}\"",
    #""\"\\\/\b\f\n\r\t\u00e9\uD83D""#, "[]", "{}", " [ 1 , [ ] , { } ] ",
    #"{"a":{"b":[1,2,{"c":null}]},"":0}"#,
    "\t\r\n1\n", #"{"a" : "]}" , "b":"\\"}"#,
  ]) func values(_ text: String) { #expect(Self.judge(text) == true) }

  @Test(arguments: [
    "01", "+1", "-", "1.", ".5", "1e", "1e+", "--1", "1 2", "tru", "nul", "truE", "True", "nan", "'a'",
    "[1,]",
    "[,1]", "[1 2]", "{1:2}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{\"a\" 1}", "]", "}", "[}", "{]",
    "1]",
    "\"\n\"", #""\x""#, #""\u12g4""#, #""\u12""#, "\u{FEFF}1", "/* */1", "1,", ":", "\u{0}", "[1]x",
  ]) func `what is none`(_ text: String) { #expect(Self.judge(text) != true) }

  @Test(arguments: ["", "[", "[1", "{\"a\":", "\"abc", #""abc\"#, #""\u1"#, "-", "1.", "tr", "[[1],", " "])
  func `what is cut off`(_ text: String) { #expect(Self.judge(text) == nil) }

  @Test func `containers go 512 deep`() {
    let deep = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
    #expect(Self.judge([Array(deep.utf8)]) == true)
    #expect(Self.judge([Array(("[" + deep + "]").utf8)]) == false)
  }

  @Test func `random text never traps and means the same whatever the cuts`() {
    let words = [
      "{", "}", "[", "]", ",", ":", "\"", "\\", "u00e9", "1", "-", ".", "e", "true", "null", " ", "a", "\n",
    ]
    var generator = SeededGenerator(seed: 8259)
    for _ in 0..<4000 {
      var bytes: [UInt8] = []
      for _ in 0..<generator.next(below: 24) {
        bytes += Array(words[generator.next(below: words.count)].utf8)
      }
      let whole = Self.judge([bytes])
      #expect(Self.judge(bytes.map { [$0] }) == whole, "\(bytes)")
      #expect(Self.judge(generator.pieces(of: bytes)) == whole, "\(bytes)")
    }
  }
}

@Suite struct JSONRecordTests {
  private func compact(_ text: String) -> String? {
    var record = JSONRecord()
    return (try? record.compacted(BodyChunk(Array(text.utf8)))).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `blanks outside of strings go and nothing else changes`() {
    #expect(
      compact(#" { "a b" : [ 1.50 , "x \" y" , "\\" , 1e400 ] }  "#) == #"{"a b":[1.50,"x \" y","\\",1e400]}"#
    )
    #expect(compact("12345678901234567890.10 ") == "12345678901234567890.10")
    #expect(compact("\"a\u{2028}b\"") == "\"a\u{2028}b\"")
    #expect(compact(#"["\\\" ]", "b" ]"#) == #"["\\\" ]","b"]"#)
  }

  @Test func `a value without blanks shares its memory`() throws {
    var record = JSONRecord()
    let value = BodyChunk(Array(#"{"a":"b c"}"#.utf8))
    let compact = try record.compacted(value)
    #expect(compact.withUnsafeBytes { $0.baseAddress } == value.withUnsafeBytes { $0.baseAddress })
  }

  @Test func `what is no value, or no UTF-8, is a fault with its place`() {
    func fault(_ bytes: [UInt8]) -> Int? {
      var record = JSONRecord()
      do throws(JSONRecord.Fault) {
        _ = try record.compacted(BodyChunk(bytes))
        return nil
      } catch {
        return error.place
      }
    }
    #expect(fault(Array("{\"a\":1,}".utf8)) == 7)
    #expect(fault(Array("[1".utf8)) == 2)
    #expect(fault(Array("\"a".utf8) + [0xC3, 0x28, 0x22]) == 2)
    for bad: [UInt8] in [
      [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE0, 0x80, 0x80],
      [0xF0, 0x80, 0x80, 0x80], [0x80],
      [0xFF], [0xE2, 0x82],
    ] {
      #expect(fault([0x22] + bad + [0x22]) == 1, "\(bad)")
    }
    #expect(fault(Array("\"é€\u{1F680}\u{D7FF}\u{10FFFF}\"".utf8)) == nil)
  }
}
