import Foundation

/// One run of the built command as a child process.
struct CommandRun {
  let status: Int32
  let output: String
  let errors: String

  /// The JSON lines of the output.
  var lines: [[String: Any]] {
    output.split(separator: "\n").compactMap {
      try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
  }

  /// The last line of standard error.
  var lastError: Substring { errors.split(separator: "\n").last ?? "" }

  var events: [String] { lines.compactMap { $0["event"] as? String } }

  /// Beside the test bundle.
  static let executable: URL = URL(
    fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
  ).deletingLastPathComponent().appendingPathComponent("penstock")

  /// A command that ends before it has read its input must not end the tests.
  private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

  /// `terminal` takes the place of standard error; `open` are lines of an input that doesn't end before the run.
  static func start(
    _ arguments: [String], input: Data? = nil, terminal: FileHandle? = nil, open: [String] = []
  ) throws -> Running {
    _ = ignoresBrokenPipes
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    if let terminal {
      process.standardError = terminal
      try errors.fileHandleForWriting.close()
      process.environment = ProcessInfo.processInfo.environment.merging(["TERM": "xterm"]) { $1 }
    }
    let inputPipe = Pipe()
    process.standardInput = input == nil && open.isEmpty ? FileHandle.nullDevice : inputPipe
    try process.run()
    for line in open { try? inputPipe.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }
    if let input {
      try? inputPipe.fileHandleForWriting.write(contentsOf: input)
      try inputPipe.fileHandleForWriting.close()
    }
    return Running(process: process, output: output, errors: errors, input: inputPipe)
  }

  static func run(_ arguments: [String], input: Data? = nil) async throws -> CommandRun {
    try await start(arguments, input: input).finish()
  }

  struct Running: @unchecked Sendable {
    // Sendable: used by one test.
    let process: Process
    let output: Pipe
    let errors: Pipe
    /// Kept, so that an open input stays open.
    let input: Pipe

    func finish() async throws -> CommandRun {
      async let output = Self.all(of: self.output)
      async let errors = Self.all(of: self.errors)
      let texts = await (output, errors)
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          process.waitUntilExit()
          continuation.resume()
        }
      }
      return CommandRun(status: process.terminationStatus, output: texts.0, errors: texts.1)
    }

    private static func all(of pipe: Pipe) async -> String {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          let data = pipe.fileHandleForReading.readDataToEndOfFile()
          continuation.resume(returning: String(decoding: data, as: UTF8.self))
        }
      }
    }
  }
}
