import Foundation
import Penstock
import TestSupport
import Testing

@testable import PenstockCLI

@Suite struct JSONLineTests {
  private func parsed(_ line: consuming JSONLine) throws -> [String: Any] {
    let bytes = line.finish()
    #expect(bytes.last == 0x0A && bytes.count { $0 == 0x0A } == 1)
    return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  @Test func fields_stand_in_the_order_of_the_calls() {
    var line = JSONLine(event: "head")
    line.integer("status", 200)
    line.string("reason", "OK")
    line.pairs("headers", [("A", "b"), ("A", "\"c\"")])
    line.null("total")
    line.bool("ok", true)
    line.object("timings") { inner in
      inner.seconds("dns", .microseconds(1500))
      inner.seconds("tls", nil)
    }
    line.object("empty") { _ in }
    line.base64("data", Array("ab".utf8).span)
    line.integer("after", nil as Int?)
    let text = String(decoding: line.finish(), as: UTF8.self)
    #expect(
      text == #"{"event":"head","status":200,"reason":"OK","headers":[["A","b"],["A","\"c\""]],"total":null,"#
        + #""ok":true,"timings":{"dns":0.0015,"tls":null},"empty":{},"data":"YWI=","after":null}"# + "\n")
  }

  @Test func every_scalar_survives_the_round_trip() throws {
    var all = String.UnicodeScalarView()
    for value in UInt32(0)...0x2FFF { if let scalar = Unicode.Scalar(value) { all.append(scalar) } }
    for value: UInt32 in [0xFEFF, 0xFFFD, 0xFFFF, 0x1F600, 0x10FFFF] {
      if let scalar = Unicode.Scalar(value) { all.append(scalar) }
    }
    let text = String(all)
    var line = JSONLine()
    line.string(text, text)
    line.pairs("pairs", [(text, text)])
    let object = try parsed(line)
    #expect((object["pairs"] as? [[String]])?.first == [text, text])
    let value = try #require(object.values.compactMap { $0 as? String }.first)
    #expect(Array(value.unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test func control_characters_are_escaped() {
    var bytes: [UInt8] = []
    JSONText.append("\u{0}\u{1}\t\r\n\u{1F}\u{7F}\\\"/", to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == #""\u0000\u0001\t\r\n\u001f\u007f\\\"/""#)
  }

  @Test(arguments: [
    (0.0, "0"), (5.0, "5"), (0.1, "0.1"), (1e-7, "0.0000001"), (1.25e-5, "0.0000125"), (-1e-5, "-0.00001"),
    (1e16, "10000000000000000"), (1.5e17, "150000000000000000"), (123456789.125, "123456789.125"),
    (9007199254740993.0, "9007199254740992"), (1e300, "1e+300"),
    (1.2345678901234567e19, "12345678901234567000"),
  ])
  func doubles_are_short_and_plain(value: Double, expected: String) {
    #expect(JSONText.number(value) == expected)
  }

  @Test func doubles_survive_the_round_trip() {
    var generator = SeededGenerator(seed: 4)
    for _ in 0..<20_000 {
      let value = Double(bitPattern: generator.next())
      guard value.isFinite else { continue }
      #expect(Double(JSONText.number(value)) == value)
      let usual = Double.random(in: -1e10...1e10, using: &generator) * (Bool.random() ? 1e-9 : 1)
      #expect(Double(JSONText.number(usual)) == usual)
    }
  }

  @Test func what_is_no_number_is_null() throws {
    var line = JSONLine()
    line.double("nan", .nan)
    line.double("infinity", -.infinity)
    line.double("none", nil)
    let object = try parsed(line)
    #expect(object.values.allSatisfy { $0 is NSNull })
  }

  @Test(arguments: [
    (Duration.zero, "0"), (.seconds(2), "2"), (.microseconds(1), "0.000001"), (.nanoseconds(999), "0"),
    (.milliseconds(1500), "1.5"), (.milliseconds(-1500), "-1.5"),
    (.seconds(3600) + .microseconds(20), "3600.00002"),
  ])
  func durations_are_seconds(value: Duration, expected: String) {
    #expect(JSONText.seconds(value) == expected)
  }

  @Test func base64_agrees_with_another_encoder() {
    for count in 0..<200 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
      #expect(Base64.encode(bytes) == Data(bytes).base64EncodedString())
    }
  }

  @Test func text_cut_anywhere_comes_out_whole() {
    let text = "aé€😀z\u{10FFFF}"
    let bytes = Array(text.utf8)
    for size in 1...bytes.count {
      var incremental = IncrementalText()
      var result = ""
      for start in stride(from: 0, to: bytes.count, by: size) {
        result += incremental.append(bytes[start..<min(start + size, bytes.count)])
      }
      result += incremental.finish()
      #expect(result == text)
    }
  }

  @Test func bytes_that_are_not_utf8_are_replaced_and_never_held_for_long() {
    var incremental = IncrementalText()
    let pieces: [[UInt8]] = [[0xFF, 0x61], [0xE2, 0x82], [0x61], [0xF0, 0x9F]]
    let texts = pieces.map { incremental.append($0) } + [incremental.finish()]
    #expect(texts == ["\u{FFFD}a", "", "\u{FFFD}a", "", "\u{FFFD}"])
    let stray = incremental.append([0x80, 0x80, 0x80, 0x80])
    #expect(!stray.isEmpty)
  }
}
