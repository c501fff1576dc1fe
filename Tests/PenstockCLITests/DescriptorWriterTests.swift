import Foundation
import Glibc
import Testing

@testable import PenstockCLI

@Suite struct DescriptorWriterTests {
  init() { signal(SIGPIPE, SIG_IGN) }

  @Test func a_reader_that_has_left_is_a_broken_pipe() throws {
    let pipe = try TestPipe()
    pipe.closeReader()
    #expect(throws: OutputError.brokenPipe) { try DescriptorWriter(descriptor: pipe.writer).write("x") }
    var told: [String] = []
    #expect(OutputError.brokenPipe.exitStatus(telling: { told.append($0) }) == .writeFailed)
    #expect(told.isEmpty)
  }

  @Test func another_failure_is_told_and_is_23() {
    #expect(throws: OutputError.failed(errno: EBADF)) { try DescriptorWriter(descriptor: -1).write("x") }
    var told: [String] = []
    #expect(OutputError.failed(errno: ENOSPC).exitStatus(telling: { told.append($0) }).code == 23)
    #expect(told == ["writing to the output failed: No space left on device"])
  }

  @Test func a_full_disk_is_an_error() {
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    #expect(throws: OutputError.failed(errno: ENOSPC)) { try DescriptorWriter(descriptor: full).write("x") }
  }

  @Test func nothing_is_written_for_no_bytes() throws {
    try DescriptorWriter(descriptor: -1).write([])
    try DescriptorWriter(descriptor: -1).write("")
  }

  @Test(arguments: [true, false])
  func all_bytes_go_through_a_small_pipe(nonBlocking: Bool) async throws {
    let pipe = try TestPipe()
    _ = fcntl(pipe.writer, F_SETPIPE_SZ_NUMBER, 4096)
    if nonBlocking { _ = fcntl(pipe.writer, F_SETFL, O_NONBLOCK) }
    let sent = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    let descriptor = pipe.reader
    async let received = onThread { readAll(descriptor) }
    let writer = DescriptorWriter(descriptor: pipe.writer)
    let failure = await onThread { () -> OutputError? in
      do throws(OutputError) {
        try writer.write(sent)
        return nil
      } catch { return error }
    }
    #expect(failure == nil)
    pipe.closeWriter()
    #expect(await received == sent)
  }

  @Test func a_reader_that_leaves_while_the_pipe_is_full_is_a_broken_pipe() async throws {
    let pipe = try TestPipe()
    _ = fcntl(pipe.writer, F_SETFL, O_NONBLOCK)
    let descriptor = pipe.writer
    async let outcome = onThread { () -> OutputError? in
      do throws(OutputError) {
        try DescriptorWriter(descriptor: descriptor).write([UInt8](repeating: 0, count: 1 << 20))
        return nil
      } catch { return error }
    }
    let reader = pipe.reader
    _ = await onThread {
      var buffer = [UInt8](repeating: 0, count: 100)
      return read(reader, &buffer, buffer.count)
    }
    pipe.closeReader()
    #expect(await outcome == .brokenPipe)
  }
}

private let F_SETPIPE_SZ_NUMBER: Int32 = 1031

/// On a thread of its own: the pool's threads are too few for what waits for each other.
private func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    Thread { continuation.resume(returning: work()) }.start()
  }
}

private func readAll(_ descriptor: Int32) -> [UInt8] {
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 777)
  while true {
    let count = read(descriptor, &buffer, buffer.count)
    if count <= 0 { return bytes }
    bytes += buffer[..<count]
  }
}

/// Both ends of a pipe, closed with it.
private final class TestPipe {
  let reader: Int32
  let writer: Int32
  private var open: Set<Int32>

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(Glibc.pipe(&ends) == 0)
    (reader, writer) = (ends[0], ends[1])
    open = Set(ends)
  }

  func closeReader() { shut(reader) }
  func closeWriter() { shut(writer) }

  private func shut(_ descriptor: Int32) {
    if open.remove(descriptor) != nil { close(descriptor) }
  }

  deinit { for descriptor in open { close(descriptor) } }
}
