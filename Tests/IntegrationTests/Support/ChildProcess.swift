import StreamCore
import Foundation
import Synchronization

/// A program that runs beside a test; its output comes line by line.
final class ChildProcess: Sendable {
  let lines: AsyncStream<String>
  private let process: Process
  private let arrivals = Mutex<[String: ContinuousClock.Instant]>([:])
  private let ended: AsyncStream<Int32>
  private let input = Pipe()

  /// `arguments[0]` is a program's name or path.
  init(_ arguments: [String], directory: String? = nil, environment: [String: String] = [:]) throws {
    guard let name = arguments.first, let path = name.hasPrefix("/") ? name : Tool.path(name) else {
      throw Tool.Failed(what: "no program \(arguments.first ?? "")")
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = Array(arguments.dropFirst())
    if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    // Closed by the kernel when the tests end in whatever way.
    process.standardInput = input
    let output = Pipe()
    process.standardOutput = output
    process.standardError =
      ProcessInfo.processInfo.environment["PENSTOCK_TEST_OUTPUT"] == nil
      ? FileHandle.nullDevice : FileHandle.standardError
    let (lines, lineSink) = AsyncStream.makeStream(of: String.self)
    let (ended, endSink) = AsyncStream.makeStream(of: Int32.self)
    process.terminationHandler = {
      // A signal's number is made negative, to tell it from an exit status.
      endSink.yield($0.terminationReason == .exit ? $0.terminationStatus : -$0.terminationStatus)
      endSink.finish()
    }
    self.lines = lines
    self.ended = ended
    self.process = process
    try process.run()
    // A thread of its own: reading blocks.
    let handle = output.fileHandleForReading
    let reader = Thread {
      var rest = Data()
      while true {
        let data = handle.availableData
        if data.isEmpty { break }
        rest += data
        while let end = rest.firstIndex(of: 0x0A) {
          let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
          self.arrivals.withLock { $0[line] = $0[line] ?? .now }
          lineSink.yield(line)
          rest = Data(rest[(end + 1)...])
        }
      }
      lineSink.finish()
    }
    reader.start()
  }

  /// When a line came first, whenever the test gets to look at it.
  func arrival(of line: String) -> ContinuousClock.Instant? { arrivals.withLock { $0[line] } }

  /// The next line that starts with this word, without it.
  func line(_ word: String) async throws -> String {
    for await line in lines where line == word || line.hasPrefix(word + " ") {
      return String(line.dropFirst(word.count + 1))
    }
    throw Tool.Failed(what: "the program ended before it said \(word)")
  }

  /// Lets a script go on that waits to be told (`wait_until_told`).
  func goOn() throws { try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

  /// Waits for the end: the exit status, or the negative number of a signal.
  func status() async -> Int32 {
    for await status in ended { return status }
    return .min
  }

  func stop() async {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    _ = await status()
  }

  /// Runs a body beside the program, which is stopped whatever happens.
  func during<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      let value = try await body()
      await stop()
      return value
    } catch {
      await stop()
      throw error
    }
  }

  /// The port that a script says it listens on.
  func port() async throws -> UInt16 {
    guard let port = UInt16(try await line("port")) else { throw Tool.Failed(what: "no port") }
    return port
  }

  /// Runs a program to its end.
  static func run(_ arguments: [String], directory: String? = nil) async throws {
    let child = try ChildProcess(arguments, directory: directory)
    let status = await child.status()
    if status != 0 { throw Tool.Failed(what: "\(arguments.joined(separator: " ")) ended with \(status)") }
  }
}
