import Glibc
import PenstockTestSupport
import StreamCore
import Synchronization
import TestSupport
import Testing

@testable import Penstock

@Suite struct FileWriterTests {
  private static let chunk = BodyChunk([UInt8](repeating: 7, count: 256 << 10))

  @Test func `bytes arrive in order in large aligned writes`() async throws {
    let folder = try TestFolder()
    let disk = TestDisk()
    let part = try PartFile.open(folder("f"), overwrite: .never, queue: FileQueue(), calls: disk.calls)
    let writer = FileWriter(part, limit: 2 << 20)
    var content: [UInt8] = []
    for index in 0..<500 {
      let piece = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: 1 + index * 97 % 30_000)
      content += piece
      try await writer.write(BodyChunk(piece))
    }
    try await writer.finish()
    #expect(try await part.commit() == folder("f"))
    #expect(folder.read("f") == content)
    #expect(folder.names == ["f"])
    let writes = disk.now.writes
    for write in writes { #expect(write.offset % 4096 == 0) }
    for write in writes.dropLast() { #expect(write.count >= 1 << 20 - 4096) }
  }

  @Test func `short writes go on where they ended`() async throws {
    let folder = try TestFolder()
    let disk = TestDisk()
    disk.set { $0.most = 70_001 }
    let part = try PartFile.open(folder("f"), overwrite: .never, queue: FileQueue(), calls: disk.calls)
    let writer = FileWriter(part, limit: 2 << 20)
    let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 255) }
    for start in stride(from: 0, to: content.count, by: 100_000) {
      try await writer.write(BodyChunk(content[start..<start + 100_000]))
    }
    try await writer.finish()
    _ = try await part.commit()
    #expect(folder.read("f") == content)
  }

  @Test func `a disk that stands still holds the writer at its bound`() async throws {
    let folder = try TestFolder()
    let disk = TestDisk(waitsForTurns: true)
    let part = try PartFile.open(folder("f"), overwrite: .never, queue: FileQueue(), calls: disk.calls)
    let writer = FileWriter(part, limit: 3 << 20)
    let taken = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for _ in 0..<40 {
          try await writer.write(Self.chunk)
          taken.value.add(1, ordering: .sequentiallyConsistent)
        }
        try await writer.finish()
      }
      // One write is done: what follows fits up to the bound and no further.
      disk.giveTurns()
      for turn in 1...10 {
        while disk.now.writes.count < turn { await Task.yield() }
        let bytes = taken.value.load(ordering: .sequentiallyConsistent) * Self.chunk.count
        #expect(Int64(bytes) - disk.now.written <= 3 << 20)
        disk.giveTurns()
      }
      try await group.waitForAll()
    }
    await part.close(keepingBytes: false)
    #expect(folder.names.isEmpty)
  }

  @Test(arguments: [(ENOSPC, "disk_full"), (EDQUOT, "disk_full"), (EIO, "disk"), (EFBIG, "write")])
  func `a failing disk stops the writer with its reason`(number: Int32, kind: String) async throws {
    let folder = try TestFolder()
    let disk = TestDisk()
    disk.set { $0.failure = (number, 2 << 20) }
    let part = try PartFile.open(folder("f"), overwrite: .never, queue: FileQueue(), calls: disk.calls)
    let writer = FileWriter(part, limit: 2 << 20)
    let error = await #expect(throws: HTTPError.self) {
      for _ in 0..<1000 { try await writer.write(Self.chunk) }
    }
    #expect(error?.kind.rawValue == kind)
    let writes = disk.now.writes.count
    await #expect(throws: HTTPError.self) { try await writer.write(Self.chunk) }
    await #expect(throws: HTTPError.self) { try await writer.finish() }
    await writer.stop()
    #expect(disk.now.writes.count == writes)
    await part.close(keepingBytes: true)
    #expect(folder.names == ["f.part"])
  }

  @Test func `a disk that takes nothing and says nothing is a fault`() async throws {
    let folder = try TestFolder()
    let disk = TestDisk()
    disk.set { $0.most = 0 }
    let part = try PartFile.open(folder("f"), overwrite: .never, queue: FileQueue(), calls: disk.calls)
    let writer = FileWriter(part, limit: 2 << 20)
    try await writer.write(Self.chunk)
    let error = await #expect(throws: HTTPError.self) { try await writer.finish() }
    #expect(error?.kind == .diskFailed)
    await part.close(keepingBytes: true)
    #expect(folder.names.isEmpty, "a part without a byte is worth nothing")
  }

  @Test func `a stopped writer writes no more`() async throws {
    let folder = try TestFolder()
    let disk = TestDisk(waitsForTurns: true)
    let part = try PartFile.open(folder("f"), overwrite: .never, queue: FileQueue(), calls: disk.calls)
    let writer = FileWriter(part, limit: 4 << 20)
    for _ in 0..<11 { try await writer.write(Self.chunk) }
    async let stopped: Void = writer.stop()
    disk.giveTurns(100)
    await stopped
    #expect(disk.now.writes.count <= 2)
    await part.close(keepingBytes: false)
    #expect(folder.names.isEmpty)
  }
}

private final class Counter: Sendable {
  let value = Atomic(0)
}
