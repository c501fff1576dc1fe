import Dispatch
import Glibc
import PenstockTestSupport
import StreamCore
import Synchronization
import TestSupport
import Testing

@testable import Penstock

@Suite struct WritebackTests {
  private final class Begun: Sendable {
    let ranges = Mutex<[Range<Int64>]>([])
    let turns = DispatchSemaphore(value: 0)
    let waits: Bool

    init(waits: Bool = false) { self.waits = waits }

    var begin: @Sendable (Int32, Range<Int64>) -> Void {
      { _, range in
        self.ranges.withLock { $0.append(range) }
        if self.waits { self.turns.wait() }
      }
    }

    func wait(for count: Int) async {
      while ranges.withLock({ $0.count }) < count { await Task.yield() }
    }
  }

  private static func write(_ writeback: Writeback, from first: Int64, mebibytes count: Int64) {
    for index in 0..<count { writeback.wrote(first + index << 20..<first + (index + 1) << 20, to: -1) }
  }

  @Test func `bytes are on their way to the disk while others come`() async {
    let begun = Begun()
    let writeback = Writeback(begun.begin)
    Self.write(writeback, from: 0, mebibytes: 7)
    #expect(begun.ranges.withLock { $0.isEmpty }, "a small file isn't worth it")
    Self.write(writeback, from: 7 << 20, mebibytes: 1)
    await begun.wait(for: 1)
    #expect(begun.ranges.withLock { $0 } == [0..<8 << 20])
  }

  @Test func `a disk that can't keep up is given no more`() async {
    let begun = Begun(waits: true)
    let writeback = Writeback(begun.begin)
    Self.write(writeback, from: 0, mebibytes: 8)
    await begun.wait(for: 1)
    Self.write(writeback, from: 8 << 20, mebibytes: 80)
    begun.turns.signal()
    await begun.wait(for: 2)
    // What it was too busy for is left to the sync.
    #expect(begun.ranges.withLock { $0[1].count } <= Writeback.most)
    begun.turns.signal()
  }

  @Test func `a busy disk holds back neither the end of a download nor its part`() async throws {
    let folder = try TestFolder()
    let begun = Begun(waits: true)
    var calls = TestDisk().calls
    calls.startWritingBack = begun.begin
    let part = try PartFile.open(folder("f"), overwrite: .never, queue: FileQueue(), calls: calls)
    let chunk = BodyChunk([UInt8](repeating: 7, count: 8 << 20))
    try await part.queue.run { () throws(HTTPError) in try part.write([chunk], at: 0) }
    await begun.wait(for: 1)
    await part.close(keepingBytes: true)
    let next = try PartFile.open(folder("f"), overwrite: .never, queue: FileQueue(), calls: calls)
    begun.turns.signal()
    await next.close(keepingBytes: false)
    #expect(folder.names.isEmpty)
  }

  @Test(.enabled(if: access("/dev/shm", W_OK) == 0)) func `no room is set aside in memory`() throws {
    var name = Array("/dev/shm/penstock-\(String(repeating: "X", count: 6))".utf8CString)
    let file = mkstemp(&name)
    try #require(file >= 0)
    defer { close(file) }
    unlink(name)
    #expect(FileCalls.system.allocate(file, 1 << 20) == EOPNOTSUPP)
  }
}
