import FoundationEssentials
import StreamCore
import TestSupport
import Testing

@testable import Penstock

/// What the quick decoder gives, against Foundation's.
@Suite struct QuickJSONTests {
  /// Where the quick one gives anything, Foundation must give the same.
  private func compare<Value: Decodable & Equatable>(
    _ type: Value.Type, _ text: [UInt8], dates: JSONCoding.Dates = .foundation,
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> Bool {
    guard let quick = QuickJSON.decode(type, from: text, dates: dates) else { return false }
    let decoder = JSONDecoder()
    switch dates {
    case .form(.unixSeconds): decoder.dateDecodingStrategy = .secondsSince1970
    case .form(.unixMilliseconds): decoder.dateDecodingStrategy = .millisecondsSince1970
    default: break
    }
    let foundation = try? decoder.decode(type, from: Data(text))
    #expect(foundation == quick, "\(String(decoding: text, as: UTF8.self))", sourceLocation: sourceLocation)
    return true
  }

  private struct Everything: Codable, Equatable {
    struct Inner: Codable, Equatable {
      var name: String?
      var values: [[Int]]
    }
    enum Kind: String, Codable { case one, two }
    var flag: Bool
    var whole: Int
    var small: Int8?
    var big: UInt64
    var ratio: Double
    var single: Float
    var price: Decimal
    var text: String
    var when: Date
    var bytes: Data
    var link: URL?
    var id: UUID?
    var kind: Kind
    var inner: Inner
    var optional: Inner?
    var list: [Inner]
    var named: [String: Double]
    var numbered: [Int: String]
  }

  private func everything() -> Everything {
    Everything(
      flag: true, whole: -42, small: 7, big: .max, ratio: 0.1 + 0.2, single: 1.5, price: Decimal(1234) / 100,
      text: "grüße \"\\\n\u{1F600}/ \u{0}", when: Date(timeIntervalSinceReferenceDate: 12.5),
      bytes: Data([0, 1, 255]), link: URL(string: "https://host/p?q=1"), id: UUID(), kind: .two,
      inner: .init(name: nil, values: [[], [1], [1, 2]]), optional: nil,
      list: [.init(name: "a", values: []), .init(name: "", values: [[3]])], named: ["x": 1, "é": 2.5],
      numbered: [1: "a", -2: "b"])
  }

  @Test func `a value of everything comes back as from Foundation`() throws {
    let value = everything()
    let bytes = Array(try JSONEncoder().encode(value))
    #expect(QuickJSON.decode(Everything.self, from: bytes, dates: .foundation) == value)
    let pretty = JSONEncoder()
    pretty.outputFormatting = [.prettyPrinted, .sortedKeys]
    let printed = Array(try pretty.encode(value))
    #expect(QuickJSON.decode(Everything.self, from: printed, dates: .foundation) == value)
  }

  @Test(arguments: [
    "1.0", "1e2", "-0", "9223372036854775807.0", "9223372036854775808", "9223372036854775807",
    "-9223372036854775808", "18446744073709551615", "1.5", "1E+2", "01", "-", "1.", " 1 ", "1 2", "1\0",
    "300",
    "-1", "0", "100.00", "123456789012345678", "1234567890123456789012",
  ])
  func `whole numbers are those of Foundation`(text: String) {
    let bytes = Array(text.utf8)
    _ = compare(Int.self, bytes)
    _ = compare(UInt.self, bytes)
    _ = compare(Int8.self, bytes)
    _ = compare(UInt64.self, bytes)
    _ = compare(Int128.self, bytes)
  }

  @Test(arguments: [
    "1.0", "1e400", "1e-400", "0.1", "123456789012345678901234567890", "-0", "-0.0", "5e-324", "1e-310",
    "0.30",
    "1.7976931348623157e308", "123456.789", "0.1234567890123456789", "16777217", "1e40", "1e-50",
    "3.4028236e38",
    "12.34", "0.1000", "-0.5", "0e5", "1.5e3", "999999999999999", "9999999999999999", "0.000000000000001",
  ])
  func `fractions are those of Foundation`(text: String) {
    let bytes = Array(text.utf8)
    _ = compare(Double.self, bytes)
    _ = compare(Float.self, bytes)
    _ = compare(Decimal.self, bytes)
    _ = compare(Date.self, bytes)
    _ = compare(Date.self, bytes, dates: .form(.unixSeconds))
    _ = compare(Date.self, bytes, dates: .form(.unixMilliseconds))
  }

  @Test(arguments: [
    #""""#, #""a""#, #""\u00e9""#, #""\ud83d\ude00""#, #""\ud800""#, #""\ude00""#, #""\x""#, "\"\u{1}\"",
    #""\"\\\/\b\f\n\r\t""#, "\"\u{e9}\u{1F600}\"", #""aGk=""#, #""http://x y""#, #""\u12""#, #""a"#, "\"\\",
  ])
  func `strings are those of Foundation`(text: String) {
    let bytes = Array(text.utf8)
    _ = compare(String.self, bytes)
    _ = compare(Data.self, bytes)
    _ = compare(URL.self, bytes)
    _ = compare([String].self, Array("[".utf8) + bytes + Array("]".utf8))
  }

  @Test func `a string that isn't UTF-8 is left to Foundation`() {
    #expect(QuickJSON.decode(String.self, from: [0x22, 0xFF, 0x22], dates: .foundation) == nil)
    #expect(QuickJSON.decode(String.self, from: [0x22, 0xED, 0xA0, 0x80, 0x22], dates: .foundation) == nil)
  }

  private struct Named: Decodable, Equatable {
    let é: Int?
    let a: Int?
    let K: Int?
  }

  @Test(arguments: [
    #"{"a":1,"a":2}"#, "{\"e\u{301}\":1}", #"{"\u00e9":1}"#, #"{"\u0061":1}"#, "{\"\u{212A}\":5}", "{}",
    #"{"a":null}"#,
    #"{"b":{"a":2},"a":3}"#, #"{"a":1,}"#, #"{"a" 1}"#, #"{"a":1"#, #"{"a":true}"#, #"{a:1}"#,
    #"[{"a":1},2]"#,
  ])
  func `members are found as Foundation finds them`(text: String) {
    let bytes = Array(text.utf8)
    _ = compare(Named.self, bytes)
    _ = compare([String: Int?].self, bytes)
    _ = compare(JSONValue.self, bytes)
  }

  @Test func `objects with many members are read in one go, the first of equal names counts`() throws {
    let members = (0..<300).map { "\"k\($0 % 250)\":\($0)" }.joined(separator: ",")
    let bytes = Array("{\(members)}".utf8)
    #expect(compare([String: Int].self, bytes))
    #expect(QuickJSON.decode([String: Int].self, from: bytes, dates: .foundation)?.count == 250)
  }

  @Test func `deep texts are read up to Foundation's limit`() {
    for depth in [1, 100, 511, 512, 513, 5000] {
      let bytes =
        Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
      _ = compare([JSONValue].self, bytes)
      #expect((JSONTape(bytes) == nil) == (depth > 512))
    }
  }

  private struct Picky: Decodable, Equatable {
    var path: [String] = []

    init(from decoder: any Decoder) throws {
      enum Key: CodingKey { case list, other }
      let container = try decoder.container(keyedBy: Key.self)
      var list = try container.nestedUnkeyedContainer(forKey: .list)
      while !list.isAtEnd {
        if try list.decodeNil() { continue }
        if let number = try? list.decode(Int.self) {
          path.append("\(number)@\(list.currentIndex)")
        } else {
          let inner = try list.superDecoder()
          path.append(
            inner.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: "."))
        }
      }
      path.append("\(container.contains(.other)) \(container.allKeys.count)")
      if (try? container.decodeNil(forKey: .other)) == true { path.append("null") }
    }
  }

  @Test func `containers used by hand do as Foundation's`() {
    #expect(compare(Picky.self, Array(#"{"list":[1,null,"x",2,{"a":[]}],"other":null}"#.utf8)))
    #expect(compare(Picky.self, Array(#"{"list":[],"what":1}"#.utf8)))
    #expect(!compare(Picky.self, Array(#"{"other":[]}"#.utf8)))
  }

  @Test func `random texts, whole and broken, never differ from Foundation`() {
    var random = SeededGenerator(seed: 20_261_201)
    func text(_ depth: Int) -> String {
      switch Int.random(in: 0..<(depth > 3 ? 6 : 9), using: &random) {
      case 0: return "null"
      case 1: return Bool.random(using: &random) ? "true" : "false"
      case 2: return "\(Int.random(in: -1000...1000, using: &random))"
      case 3: return "\(Double.random(in: -10...10, using: &random))"
      case 4: return "\"\(["a", "é", "\\n", "\\u00e9", ""].randomElement(using: &random) ?? "")x\""
      case 5: return "\(Int.random(in: 0...9, using: &random)).\(Int.random(in: 0...99, using: &random))"
      case 6:
        return "["
          + (0..<Int.random(in: 0..<4, using: &random)).map { _ in text(depth + 1) }.joined(separator: ", ")
          + "]"
      default:
        let members = (0..<Int.random(in: 0..<5, using: &random)).map { number in
          "\"k\(number)\" : " + text(depth + 1)
        }
        return "{" + members.joined(separator: ",") + "}"
      }
    }
    var read = 0
    for _ in 0..<1500 {
      var bytes = Array(text(0).utf8)
      if compare(JSONValue.self, bytes) { read += 1 }
      _ = compare([String: JSONValue].self, bytes)
      _ = compare([Double].self, bytes)
      guard !bytes.isEmpty else { continue }
      // Broken at one place.
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0x20...0x7E, using: &random)
      _ = compare(JSONValue.self, bytes)
    }
    #expect(read > 1000)
  }
}
