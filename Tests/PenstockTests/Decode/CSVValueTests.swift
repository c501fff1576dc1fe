import Foundation
import Penstock
import StreamCore
import TestSupport
import Testing

/// Rows of CSV of which some can't be read, and rows as values.
@Suite struct CSVValueTests {
  struct Person: Decodable, Sendable, Equatable {
    var id: Int
    var name: String
    var age: Int?
    var isActive: Bool
    var createdAt: Date
    var score: Double?
  }

  private static let text =
    "id,name,age,is_active,created_at,score\r\n1,\"Ann, A.\",30,true,1970-01-01T00:00:10Z,1.5\r\n"
    + "2,é\u{1F680},,0,1970-01-02,\r\n"

  @Test func `rows are values, at every cut`() async {
    await everyCut(
      Self.text,
      [
        Person(
          id: 1, name: "Ann, A.", age: 30, isActive: true, createdAt: Date(timeIntervalSince1970: 10),
          score: 1.5),
        Person(
          id: 2, name: "é\u{1F680}", age: nil, isActive: false,
          createdAt: Date(timeIntervalSince1970: 86_400), score: nil),
      ]
    ) { $0.csvRows(of: Person.self, keys: .snakeCase) }
    await everyCut("a;b\n1;2\n", [["a": 1, "b": 2]]) { $0.csvRows(of: [String: Int].self, separator: ";") }
    await everyCut("a,b\n1,x\n", [["1", "x"]]) { $0.csvRows(of: [String].self) }
  }

  @Test func `types with a text of their own are read from it`() async throws {
    struct Row: Decodable, Sendable {
      enum Sort: String, Decodable { case newest }
      let amount: Decimal
      let place: URL
      let id: UUID
      let sort: Sort
      let day: Date
    }
    let text =
      "amount,place,id,sort,day\n12.340,https://h/x,F47AC10B-58CC-4372-A567-0E02B2C3D479,newest,02/01/1970\n"
    let (rows, error) = await collected(
      ResponseBody(Array(text.utf8)).csvRows(of: Row.self, dates: .format("dd/MM/yyyy")))
    #expect(error == nil)
    let row = try #require(rows.first)
    #expect(row.amount == Decimal(string: "12.34") && row.place.absoluteString == "https://h/x")
    #expect(row.id.uuidString.hasPrefix("F47AC10B") && row.sort == .newest)
    #expect(row.day == Date(timeIntervalSince1970: 86_400))
  }

  @Test func `a row that is no value says so with row, line and column`() async {
    let text = "id,name\n1,\"a\nb\"\nx,c\n3,d\n"
    struct Row: Decodable, Sendable { let id: Int, name: String }
    let (rows, error) = await collected(ResponseBody(Array(text.utf8)).csvRows(of: Row.self))
    #expect(rows.count == 1 && error?.kind == .invalidRecord)
    for part in ["row 2 ", "line 4", "\"id\"", "Int"] {
      #expect(error?.message.contains(part) == true, "\(part)")
    }
    struct Other: Decodable, Sendable { let nope: Int }
    let (_, missing) = await collected(ResponseBody(Array(text.utf8)).csvRows(of: Other.self))
    #expect(missing?.kind == .invalidRecord && missing?.message.contains("nope") == true)
    let (_, single) = await collected(ResponseBody(Array(text.utf8)).csvRows(of: Int.self))
    #expect(single?.kind == .invalidRecord)
  }

  @Test func `rows that can't be read are left out by choice, at every cut`() async {
    let text = "a,b\n1,2\nlonely\n3,4,5\nx\"y,6\n\"q\"r,7\n\"8\n8\",9\n\n10,11"
    let good = [["1", "2"], ["8\n8", "9"], ["10", "11"]]
    await everyCut(text, good) { $0.csvRows(hasHeader: true, onInvalid: .skip).map(Array.init) }
    await everyCut(text, [["1", "2"]], kind: .invalidRecord) {
      $0.csvRows(hasHeader: true, onInvalid: .throw).map(Array.init)
    }
    await everyCut("\u{FEFF}\"a\nb\",c\n1\n2,3\n", [["a\nb", "c"], ["2", "3"]]) {
      $0.csvRows(onInvalid: .skip).map(Array.init)
    }
  }

  @Test func `rows that can't be read are elements by choice, with number, line and bytes`() async {
    let text = "a,b\n1,2\nlonely\n3,4\n"
    let (rows, error) = await collected(
      ResponseBody(Array(text.utf8)).csvRows(hasHeader: true, onInvalid: .yield))
    #expect(error == nil && rows.count == 3)
    #expect(rows.compactMap { try? $0.get()["b"] } == ["2", "4"])
    #expect(rows.compactMap { try? $0.get().number } == [1, 3])
    guard case .failure(let invalid)? = rows.dropFirst().first else {
      Issue.record("the second row is no failure")
      return
    }
    #expect(invalid.number == 2 && invalid.bytes == BodyChunk(Array("lonely".utf8)))
    #expect(invalid.error.message.contains("row 2 ") && invalid.error.message.contains("line 3"))
    struct Row: Decodable, Sendable { let a: Int, b: Int }
    let (values, _) = await collected(
      ResponseBody(Array("a,b\n1,2\nx,3\n4\n5,6".utf8)).csvRows(of: Row.self, onInvalid: .yield))
    #expect(values.map { (try? $0.get().b) ?? 0 } == [2, 0, 0, 6])
  }

  @Test func `what no choice can mend is an error in any case`() async {
    await everyCut("a,b\n1,\"2\n3,4\n", [[String]](), kind: .truncated) {
      $0.csvRows(hasHeader: true, onInvalid: .skip).map(Array.init)
    }
    await everyCut("a\"b,c\n1,2\n", [[String]](), kind: .invalidRecord) {
      $0.csvRows(hasHeader: true, onInvalid: .skip).map(Array.init)
    }
    await everyCut("1,2\n1,23456\n", [["1", "2"]], kind: .lineTooLong) {
      $0.csvRows(onInvalid: .skip, limit: .bytes(5)).map(Array.init)
    }
  }

  @Test func `good rows are the same whether bad ones are skipped or not`() async {
    let words = [",", "\"", "\"\"", "\n", "\r", "a", "é", "\u{FEFF}", ",", "b\n"]
    var generator = SeededGenerator(seed: 41_801)
    for _ in 0..<800 {
      var bytes: [UInt8] = []
      for _ in 0..<generator.next(below: 24) {
        bytes += Array(words[generator.next(below: words.count)].utf8)
      }
      let (strict, fault) = await collected(ResponseBody(bytes).csvRows())
      let (rows, error) = await collected(ResponseBody(bytes).csvRows(onInvalid: .throw))
      #expect(rows == strict && rows.map(\.line) == strict.map(\.line), "\(bytes)")
      #expect(error?.kind == fault?.kind, "\(bytes)")
      let (pieces, other) = await collected(
        ResponseBody(pieces: generator.pieces(of: bytes)).csvRows(onInvalid: .yield))
      let (whole, same) = await collected(ResponseBody(bytes).csvRows(onInvalid: .yield))
      #expect(pieces.map { try? $0.get() } == whole.map { try? $0.get() }, "\(bytes)")
      #expect(other?.kind == same?.kind && other?.message == same?.message, "\(bytes)")
    }
  }

  @Test func `a body can be read once as values of rows too`() async {
    let body = ResponseBody(Array("a\n1\n".utf8))
    _ = await collected(body.csvRows(of: [String: Int].self))
    #expect(await collected(body.csvRows(of: [String: Int].self)).1?.kind == .alreadyConsumed)
  }
}
