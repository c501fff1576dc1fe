import StreamCore
import Foundation
import Glibc
import Penstock
import Synchronization
import TestSupport
import Testing

@testable import PenstockCLI

@Suite struct OutputQueueTests {
  private func bytes(_ count: Int) -> OutputQueue.Piece { .bytes([UInt8](repeating: 0, count: count)) }

  @Test func the_first_piece_begins_and_what_follows_goes_with_the_next_write() {
    var queue = OutputQueue()
    #expect(queue.add(bytes(1)) == .begin)
    guard case .write(let first) = queue.next() else {
      Issue.record("nothing to write")
      return
    }
    #expect(first.count == 1 && !queue.isIdle)
    #expect(queue.add(bytes(2)) == .wait)
    #expect(queue.add(bytes(3)) == .wait)
    guard case .write(let second) = queue.next() else {
      Issue.record("nothing to write")
      return
    }
    #expect(second.map(\.count) == [2, 3])
    guard case .rest = queue.next() else {
      Issue.record("something to write")
      return
    }
    #expect(queue.isIdle)
    #expect(queue.add(bytes(1)) == .begin)
  }

  @Test func room_ends_at_the_limit() {
    var queue = OutputQueue()
    _ = queue.add(bytes(OutputQueue.limit - 1))
    #expect(queue.hasRoom)
    _ = queue.add(bytes(1))
    #expect(!queue.hasRoom)
    _ = queue.next()
    #expect(queue.hasRoom)
  }

  @Test func a_failure_drops_what_waits_and_refuses_the_rest() {
    var queue = OutputQueue()
    _ = queue.add(bytes(1))
    _ = queue.next()
    _ = queue.add(bytes(OutputQueue.limit))
    queue.failed(.brokenPipe)
    queue.failed(.failed(errno: EIO))
    #expect(queue.hasRoom && queue.isIdle)
    #expect(queue.add(bytes(1)) == .fail(.brokenPipe))
    guard case .rest = queue.next() else {
      Issue.record("something to write")
      return
    }
  }
}

@Suite struct QueuedOutputTests {
  init() { signal(SIGPIPE, SIG_IGN) }

  @Test func pieces_of_many_tasks_come_whole_and_each_task_s_in_order() async throws {
    let pipe = Pipe()
    let output = QueuedOutput(DescriptorWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor))
    async let text = read(pipe)
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for number in 0..<500 {
            let line = "\(task) \(number) " + String(repeating: "x", count: number * 7) + "\n"
            if number % 2 == 0 {
              try? await output.write(line)
            } else {
              try? await output.write(BodyChunk(line.utf8))
            }
          }
        }
      }
    }
    try await output.finish()
    try pipe.fileHandleForWriting.close()
    var next = [Int](repeating: 0, count: 8)
    for line in await text.split(separator: "\n") {
      let parts = line.split(separator: " ", omittingEmptySubsequences: false)
      guard parts.count == 3, let task = Int(parts[0]), let number = Int(parts[1]) else {
        Issue.record("mixed: \(line.prefix(80))")
        continue
      }
      #expect(number == next[task] && parts[2].utf8.count == number * 7)
      next[task] = number + 1
    }
    #expect(next == [Int](repeating: 500, count: 8))
  }

  @Test func a_reader_that_stops_holds_the_writer_and_no_more_waits_than_the_limit() async throws {
    let pipe = Pipe()
    let output = QueuedOutput(DescriptorWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor))
    let written = Mutex(0)
    let task = Task {
      for _ in 0..<64 {
        try await output.write([UInt8](repeating: 1, count: 256 << 10))
        written.withLock { $0 += 1 }
      }
      try await output.finish()
      try pipe.fileHandleForWriting.close()
    }
    // One write is stuck in the pipe: of a piece, or of four where it began late. Four fill the room beside it.
    #expect(await eventually { written.withLock { $0 } >= 4 })
    #expect(written.withLock { $0 } <= 8)
    let text = await read(pipe)
    try await task.value
    #expect(text.utf8.count == 16 << 20)
  }

  @Test func a_failure_is_told_once_and_thrown_by_what_follows() async throws {
    let output = QueuedOutput(DescriptorWriter(descriptor: -1))
    let told = Mutex(0)
    output.onFailure { told.withLock { $0 += 1 } }
    try await output.write("x")
    await #expect(throws: OutputError.failed(errno: EBADF)) { try await output.finish() }
    await #expect(throws: OutputError.failed(errno: EBADF)) { try await output.write("y") }
    #expect(await eventually { told.withLock { $0 } > 0 })
    output.onFailure { told.withLock { $0 += 10 } }
    #expect(told.withLock { $0 } == 11)
  }

  private func read(_ pipe: Pipe) async -> String {
    await withCheckedContinuation { continuation in
      Thread {
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        continuation.resume(returning: String(decoding: data, as: UTF8.self))
      }.start()
    }
  }
}
