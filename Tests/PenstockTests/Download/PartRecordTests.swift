import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct PartRecordTests {
  private static let record = PartRecord(
    url: "http://h/f", finalURL: "http://h/g", etag: "\"a\"", lastModified: nil, strong: true, total: 100,
    segments: [[0, 10], [20, 30]],
    digests: [PartRecord.DigestState(algorithm: "sha-256", offset: 10, state: "AAAA")], endVerifiable: true)

  @Test func `a record survives being written and read`() throws {
    let bytes = try #require(Self.record.encoded())
    #expect(PartRecord.decode(bytes) == Self.record)
    #expect(Self.record.done.ranges == [0..<10, 20..<30])
    #expect(Self.record.validator.ifRange == "\"a\"")
  }

  @Test func `a record that was cut anywhere is none`() throws {
    let bytes = try #require(Self.record.encoded())
    for end in 0..<bytes.count - 1 where PartRecord.decode(Array(bytes[..<end])) != nil {
      Issue.record("cut at \(end)")
    }
  }

  @Test func `a record that contradicts itself is none`() throws {
    func isTaken(_ change: (inout PartRecord) -> Void) -> Bool {
      var record = Self.record
      change(&record)
      return record.encoded().flatMap { PartRecord.decode($0) } != nil
    }
    #expect(isTaken { _ in })
    #expect(!isTaken { $0.version = 2 })
    #expect(!isTaken { $0.total = 29 })
    #expect(!isTaken { $0.total = -1 })
    #expect(!isTaken { $0.segments = [[0, 10], [5, 30]] })
    #expect(!isTaken { $0.segments = [[20, 30], [0, 10]] })
    #expect(!isTaken { $0.segments = [[10, 10]] })
    #expect(!isTaken { $0.segments = [[-5, 10]] })
    #expect(!isTaken { $0.segments = [[0]] })
    #expect(!isTaken { $0.total = nil }, "a gap that nobody knows the end of")
    #expect(!isTaken { $0.digests[0].offset = 31 })
    #expect(
      isTaken {
        $0.segments = []; $0.digests = []
      })
    #expect(PartRecord.decode(Array("[]".utf8)) == nil)
    #expect(PartRecord.decode(Array("{}".utf8)) == nil)
  }

  @Test func `a sidecar is replaced as a whole and removed with its rest`() throws {
    let folder = try TestFolder()
    let sidecar = Sidecar(part: folder("f.part"))
    #expect(sidecar.path == folder("f.part.json") && sidecar.read() == nil && !sidecar.isThere)
    try sidecar.write(Self.record, isDurable: true)
    #expect(sidecar.read() == Self.record)
    var other = Self.record
    other.segments = [[0, 40]]
    folder.write("rest of a run that was killed", to: "f.part.json~")
    try sidecar.write(other, isDurable: false)
    #expect(sidecar.read() == other && folder.names == ["f.part.json"])
    sidecar.remove()
    #expect(folder.names.isEmpty)
    folder.write("{\"version\":1", to: "f.part.json")
    #expect(sidecar.read() == nil && sidecar.isThere)
  }

  @Test func `the name of an earlier try is found by its URL`() throws {
    let folder = try TestFolder()
    var record = Self.record
    record.url = Redaction.url("http://h/f?token=secret&a=1")
    try Sidecar(path: folder("given.bin.part.json")).write(record, isDurable: false)
    folder.write("x", to: "f.part.json")
    #expect(
      Sidecar.findName(in: folder.path, url: "http://h/f?token=secret&a=1", guess: "f") == "given.bin")
    #expect(Sidecar.findName(in: folder.path, url: "http://h/other", guess: "other") == nil)
    #expect(folder.text("given.bin.part.json")?.contains("secret") == false)
  }

  @Test func `it is found among many files, each entry read within the folder's buffer`() throws {
    // The address sanitizer sees what is read beyond it.
    let folder = try TestFolder()
    for number in 0..<3000 { folder.write("", to: "\(number)") }
    #expect(Sidecar.findName(in: folder.path, url: "http://h/f", guess: "f") == nil)
    try Sidecar(path: folder("given.bin.part.json")).write(Self.record, isDurable: false)
    #expect(Sidecar.findName(in: folder.path, url: "http://h/f", guess: "f") == "given.bin")
  }

  @Test func `ranges behave as the set of their bytes`() {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<300 {
      var ranges = ByteRanges()
      var model: Set<Int64> = []
      for _ in 0..<12 {
        let start = Int64(generator.next(below: 40))
        let end = start + Int64(generator.next(below: 9))
        ranges.insert(start..<end)
        model.formUnion(start..<end)
      }
      #expect(ranges.count == Int64(model.count))
      #expect(Set(ranges.ranges.flatMap { Array($0) }) == model)
      #expect(zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
      let missing = Set(ranges.gaps(upTo: 45).flatMap { Array($0) })
      #expect(missing == Set(Int64(0)..<45).subtracting(model))
      let probe = Int64(generator.next(below: 45))
      var end = probe
      while model.contains(end) { end += 1 }
      #expect(ranges.end(from: probe) == end)
    }
  }
}
