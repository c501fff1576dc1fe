import Foundation
import Testing

/// The built command, run through a shell as people and scripts do; `$penstock` is its path.
struct CommandProcess {
  let status: Int32
  let output: String
  let error: String

  init(_ script: String) async throws {
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", script]
    process.environment = ["penstock": folder.appendingPathComponent("penstock").path]
    let (output, error) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = error
    process.standardInput = FileHandle.nullDevice
    let ended: Int32 = try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    // What these scripts print fits into a pipe, so it can be read when they have ended.
    status = ended
    self.output = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    self.error = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}
