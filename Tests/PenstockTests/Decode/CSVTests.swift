import Penstock
import StreamCore
import TestSupport
import Testing

@Suite struct CSVTests {
  static func rows(
    _ pieces: [[UInt8]], _ separator: Unicode.Scalar = ",", hasHeader: Bool = false, limit: Int64 = 100
  ) -> [[String]] {
    var framer = CSVFramer(separator: separator, hasHeader: hasHeader, limit: .bytes(limit))
    var rows: [CSVRow] = []
    var failure: [[String]] = []
    do throws(HTTPError) {
      for piece in pieces { try framer.feed(BodyChunk(piece), into: &rows) }
      try framer.finish(into: &rows)
    } catch {
      failure.append(["error: \(error.kind.rawValue)"])
    }
    return rows.map(Array.init) + failure
  }

  static func check(
    _ text: String, separator: Unicode.Scalar = ",", hasHeader: Bool = false, limit: Int64 = 100,
    _ expected: [[String]]
  ) {
    let bytes = Array(text.utf8)
    for cut in 0...bytes.count {
      let found = rows(
        [Array(bytes[..<cut]), Array(bytes[cut...])], separator, hasHeader: hasHeader, limit: limit)
      #expect(found == expected, "cut at \(cut)")
    }
    #expect(rows(bytes.map { [$0] }, separator, hasHeader: hasHeader, limit: limit) == expected)
  }

  @Test func `fields, quoted and not, at every cut`() {
    Self.check(
      "a,b é,c\r\n\"1,2\",\"x \"\"y\"\"\",\"two\r\nlines\"\n,,\n\"\",\"\"\"\",z\rlast, b ,\"\"",
      [
        ["a", "b é", "c"], ["1,2", "x \"y\"", "two\r\nlines"], ["", "", ""], ["", "\"", "z"],
        ["last", " b ", ""],
      ])
  }

  @Test func `blank lines are no rows and a byte order mark is no content`() {
    Self.check("\u{FEFF}\"a\",b\r\n\r\n\nc,d\n", [["a", "b"], ["c", "d"]])
    Self.check("\u{FEFE},b\n", [["\u{FEFE}", "b"]])
    Self.check("", [])
    Self.check("\n", [])
  }

  @Test func `other separators`() {
    Self.check("a;b,c\n", separator: ";", [["a", "b,c"]])
    Self.check("a\tb\n", separator: "\t", [["a", "b"]])
  }

  @Test func `damaged rows are errors behind the good ones`() {
    Self.check("a,b\nc\"d,e\n", [["a", "b"], ["error: record"]])
    Self.check("a,b\n\"c\"d,e\n", [["a", "b"], ["error: record"]])
    Self.check("a,b\nc\n", [["a", "b"], ["error: record"]])
    Self.check("a,b\nc,d,e\n", [["a", "b"], ["error: record"]])
    Self.check("a,b\nc,\"d\n", [["a", "b"], ["error: truncated"]])
    Self.check("a,1234567\n", limit: 5, [["error: line_limit"]])
    Self.check("a,\"1234567", limit: 5, [["error: line_limit"]])
    Self.check(",,,,,,,,,\n", limit: 5, [["error: line_limit"]])
  }

  @Test func `a header row names the columns, and errors name row and line`() async {
    let text = "id,name\n1,\"a\nb\"\n2,c\n3\n"
    let (rows, error) = await collected(ResponseBody(Array(text.utf8)).csvRows(hasHeader: true))
    #expect(rows.map { $0["name"] } == ["a\nb", "c"])
    #expect(rows.map { $0["id"] } == ["1", "2"])
    #expect(rows.first?["other"] == nil)
    #expect(rows.first?.names == ["id", "name"])
    #expect(rows.map(\.number) == [1, 2])
    #expect(rows.map(\.line) == [2, 4])
    #expect(error?.message.contains("row 3 ") == true)
    #expect(error?.message.contains("line 5") == true)
  }

  @Test func `random bytes never trap and mean the same whatever the cuts`() {
    let words = [",", "\"", "\"\"", "\n", "\r", "a", "é", " ", "\u{FEFF}"]
    var generator = SeededGenerator(seed: 4180)
    for _ in 0..<4000 {
      var bytes: [UInt8] = []
      for _ in 0..<generator.next(below: 24) {
        bytes += Array(words[generator.next(below: words.count)].utf8)
      }
      let whole = Self.rows([bytes], limit: 6)
      #expect(Self.rows(bytes.map { [$0] }, limit: 6) == whole, "\(bytes)")
      #expect(Self.rows(generator.pieces(of: bytes), limit: 6) == whole, "\(bytes)")
    }
  }
}
