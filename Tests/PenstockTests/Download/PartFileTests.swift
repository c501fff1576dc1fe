import Glibc
import PenstockTestSupport
import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct PartFileTests {
  private static func part(
    _ path: String, _ overwrite: DownloadOptions.Overwrite = .never, calls: FileCalls = .system,
    holding text: String = "new"
  ) throws -> PartFile {
    let part = try PartFile.open(path, overwrite: overwrite, queue: FileQueue(), calls: calls)
    try part.write([BodyChunk(text.utf8)], at: 0)
    return part
  }

  @Test func `nothing has the final name until it is committed`() async throws {
    let folder = try TestFolder()
    let part = try Self.part(folder("f"))
    #expect(folder.names == ["f.part"])
    #expect(try await part.commit() == folder("f"))
    #expect(folder.names == ["f"])
    #expect(folder.text("f") == "new")
    // Giving up what is done touches nothing.
    await part.close(keepingBytes: false)
    #expect(folder.names == ["f"])
  }

  @Test func `a file that came meanwhile is never replaced`() async throws {
    let folder = try TestFolder()
    let part = try Self.part(folder("f"))
    folder.write("old", to: "f")
    let error = await #expect(throws: HTTPError.self) { try await part.commit() }
    #expect(error?.kind == .fileExists)
    await part.close(keepingBytes: false)
    #expect(folder.names == ["f"])
    #expect(folder.text("f") == "old")
  }

  @Test func `replacing puts the new file in the old one's place`() async throws {
    let folder = try TestFolder()
    folder.write("old", to: "f")
    let part = try Self.part(folder("f"), .replace)
    #expect(folder.text("f") == "old")
    _ = try await part.commit()
    #expect(folder.text("f") == "new")
    #expect(folder.names == ["f"])
  }

  @Test func `numbering skips files, parts under way, and files that came meanwhile`() async throws {
    let folder = try TestFolder()
    folder.write("old", to: "f.x")
    folder.write("old", to: "f (1).x")
    let first = try Self.part(folder("f.x"), .rename, holding: "first")
    #expect(first.finalPath == folder("f (2).x"))
    let second = try Self.part(folder("f.x"), .rename, holding: "second")
    #expect(second.finalPath == folder("f (3).x"))
    folder.write("old", to: "f (3).x")
    #expect(try await second.commit() == folder("f (4).x"))
    #expect(try await first.commit() == folder("f (2).x"))
    #expect(folder.text("f (2).x") == "first")
    #expect(folder.text("f (3).x") == "old")
    #expect(folder.text("f (4).x") == "second")
    #expect(folder.names.count == 5)
  }

  @Test func `one part has one writer`() async throws {
    let folder = try TestFolder()
    let part = try Self.part(folder("f"))
    let error = #expect(throws: HTTPError.self) { try Self.part(folder("f")) }
    #expect(error?.kind == .writeFailed)
    #expect(error?.message.contains("another download") == true)
    #expect(folder.text("f.part") == "new")
    await part.close(keepingBytes: false)
    #expect(folder.names.isEmpty)
    _ = try Self.part(folder("f"))
  }

  @Test func `a part that was kept is begun anew`() async throws {
    let folder = try TestFolder()
    folder.write("a longer rest of another run", to: "f.part")
    let part = try Self.part(folder("f"))
    _ = try await part.commit()
    #expect(folder.text("f") == "new")
  }

  @Test func `a part that is another name of a file leaves that file alone`() async throws {
    let folder = try TestFolder()
    folder.write("whole", to: "f")
    #expect(link(folder("f"), folder("f.part")) == 0)
    let part = try Self.part(folder("f"), .replace)
    #expect(folder.text("f") == "whole")
    await part.close(keepingBytes: false)
    #expect(folder.text("f") == "whole")
    #expect(folder.names == ["f"])
  }

  @Test func `a symbolic link as part is not followed`() throws {
    let folder = try TestFolder()
    folder.write("precious", to: "target")
    #expect(symlink(folder("target"), folder("f.part")) == 0)
    let error = #expect(throws: HTTPError.self) { try Self.part(folder("f")) }
    #expect(error?.kind == .writeFailed)
    #expect(folder.text("target") == "precious")
    #expect(folder.names == ["f.part", "target"])
  }

  @Test func `a pipe as part is refused and not waited for`() throws {
    let folder = try TestFolder()
    #expect(mkfifo(folder("f.part"), 0o600) == 0)
    #expect(throws: HTTPError.self) { try Self.part(folder("f")) }
    // With a reader it could be opened.
    let reader = open(folder("f.part"), O_RDONLY | O_NONBLOCK)
    #expect(throws: HTTPError.self) { try Self.part(folder("f")) }
    close(reader)
  }

  @Test func `a part that somebody replaced is neither renamed nor removed`() async throws {
    let folder = try TestFolder()
    let part = try Self.part(folder("f"))
    unlink(folder("f.part"))
    folder.write("foreign", to: "f.part")
    await #expect(throws: HTTPError.self) { try await part.commit() }
    await part.close(keepingBytes: false)
    #expect(folder.names == ["f.part"])
    #expect(folder.text("f.part") == "foreign")
  }

  @Test(arguments: [1, 2])
  func `a sync that fails leaves no final file and keeps the part`(sync: Int) async throws {
    let folder = try TestFolder()
    let disk = TestDisk()
    disk.set { $0.syncFailure = (EIO, sync) }
    let part = try Self.part(folder("f"), calls: disk.calls)
    let error = await #expect(throws: HTTPError.self) { try await part.commit() }
    #expect(error?.kind == .diskFailed)
    await part.close(keepingBytes: true)
    #expect(folder.names == ["f.part"])
    #expect(folder.text("f.part") == "new")
  }

  @Test func `a file is synced before and its folder after it gets its name`() async throws {
    let folder = try TestFolder()
    let disk = TestDisk()
    _ = try await Self.part(folder("f"), calls: disk.calls).commit()
    #expect(disk.now.syncs == 2)
  }

  @Test func `too little space is known before a byte is written`() async throws {
    let folder = try TestFolder()
    let disk = TestDisk()
    disk.set { $0.free = 99 }
    let part = try PartFile.open(folder("f"), overwrite: .never, queue: FileQueue(), calls: disk.calls)
    try part.checkSpace(for: nil)
    try part.checkSpace(for: 99)
    let error = #expect(throws: HTTPError.self) { try part.checkSpace(for: 100) }
    #expect(error?.kind == .diskFull)
    await part.close(keepingBytes: true)
    #expect(folder.names.isEmpty)
  }
}
