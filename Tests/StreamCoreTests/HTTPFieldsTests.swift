import StreamCore
import Testing

@Suite struct HTTPFieldsTests {
  @Test func lookUpIgnoresCaseAndKeepsTheOriginal() {
    let fields: HTTPFields = ["Content-TYPE": "text/plain", "X-A": "1"]
    #expect(fields["content-type"] == "text/plain")
    #expect(fields[0].name == "Content-TYPE")
    #expect(fields.contains("x-a"))
    #expect(fields["content_type"] == nil)
    #expect(fields["content-typ"] == nil)
  }

  @Test func theOnlyLettersThatFoldAreASCII() {
    var fields = HTTPFields()
    fields.append("a[{", "1")
    #expect(fields["A[{"] == "1")
    #expect(fields["a{{"] == nil)
    #expect(fields["@[{"] == nil)
  }

  @Test func orderAndRepeatsAreKept() {
    var fields: HTTPFields = ["Set-Cookie": "a=1, x", "Via": "p"]
    fields.append("set-cookie", "b=2")
    #expect(fields[all: "SET-COOKIE"] == ["a=1, x", "b=2"])
    #expect(fields["set-cookie"] == "a=1, x")
    #expect(fields.map(\.name) == ["Set-Cookie", "Via", "set-cookie"])
  }

  @Test func rawBytesSurviveAndReadAsLatin1WhereTheyAreNotUTF8() {
    var fields = HTTPFields()
    fields.append("X", bytes: [0x63, 0xE9, 0xFF])
    fields.append("X", bytes: Array("é".utf8))
    #expect(fields.rawValues("x") == [[0x63, 0xE9, 0xFF], [0xC3, 0xA9]])
    #expect(fields[all: "x"] == ["cé\u{FF}", "é"])
  }

  @Test func settingReplacesAllAndNilRemoves() {
    var fields: HTTPFields = ["A": "1", "B": "2", "a": "3"]
    fields["a"] = "4"
    #expect(fields.map(\.name) == ["B", "a"])
    fields["A"] = nil
    #expect(fields.map(\.name) == ["B"])
    fields.removeAll("zzz")
    fields.removeAll("b")
    #expect(fields.isEmpty)
  }

  @Test func removalLeavesOtherFieldsAndOtherCopiesWhole() {
    let original: HTTPFields = ["A": "1", "Bee": "22", "A": "3", "C": ""]
    var fields = original
    fields.removeAll("a")
    #expect(fields.map(\.value) == ["22", ""])
    fields.append("D", "4")
    #expect(fields["d"] == "4" && fields["bee"] == "22")
    #expect(original.count == 4)
  }

  @Test func whatWasRemovedNoLongerCountsAsSize() {
    var fields: HTTPFields = ["A": "1"]
    for round in 0..<1000 { fields["A"] = "value \(round)" }
    #expect(fields.byteCount == 1 + "value 999".utf8.count)
  }

  @Test func aDefaultIsSetOnlyWhereTheNameIsMissing() {
    var fields: HTTPFields = ["Accept": "a"]
    fields.setDefault("accept", "b")
    fields.setDefault("Host", "h")
    #expect(fields["Accept"] == "a" && fields["host"] == "h")
  }

  @Test func aListCanBeAddedToItself() {
    var fields: HTTPFields = ["A": "1", "B": "2"]
    fields.append(contentsOf: fields)
    #expect(fields.map(\.value) == ["1", "2", "1", "2"])
  }

  @Test func equalityIgnoresTheCaseOfNamesAlone() {
    let one: HTTPFields = ["A": "x", "B": "y"]
    #expect(one == ["a": "x", "b": "y"])
    #expect(one != ["a": "X", "b": "y"])
    #expect(one != ["b": "y", "a": "x"])
    #expect(one != ["a": "x"])
    var removed: HTTPFields = ["Z": "0", "a": "x", "b": "y"]
    removed.removeAll("z")
    #expect(one == removed)
  }

  @Test func emptyNamesAndValuesAreKept() {
    let fields: HTTPFields = ["": "nameless", "Empty": ""]
    #expect(fields[""] == "nameless")
    #expect(fields["empty"]?.isEmpty == true)
  }

  @Test func theDescriptionHidesSecrets() {
    let fields: HTTPFields = ["Authorization": "Bearer s3cret", "COOKIE": "s3cret", "Accept": "shown"]
    #expect(!fields.description.contains("s3cret"))
    #expect(fields.description.contains("Accept: shown"))
  }
}
