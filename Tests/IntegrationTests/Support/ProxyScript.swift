import Foundation
import StreamCore
import Testing

/// A proxy, scripted in `Tests/Scripts/proxy.py`.
final class ProxyScript: Sendable {
  let port: UInt16
  private let process: ChildProcess

  private init(_ process: ChildProcess, port: UInt16) {
    self.process = process
    self.port = port
  }

  func url(_ scheme: String = "http", user: String? = nil) -> String {
    "\(scheme)://\(user.map { $0 + "@" } ?? "")\(scheme == "https" ? "localhost" : "127.0.0.1"):\(port)"
  }

  /// The next line that starts with this word, without it.
  func line(_ word: String) async throws -> String { try await process.line(word) }

  /// Expects the next line that starts with this word to go on so.
  func expect(
    _ word: String, _ rest: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let line = try await line(word)
    #expect(line == rest, sourceLocation: sourceLocation)
  }

  /// Runs a body beside a proxy.
  static func with<Value>(
    _ arguments: String..., body: (ProxyScript) async throws -> Value
  ) async throws -> Value {
    let script = Tool.tests.appendingPathComponent("Scripts/proxy.py").path
    let process = try ChildProcess(["python3", script] + arguments)
    return try await process.during { try await body(ProxyScript(process, port: try await process.port())) }
  }
}

extension ResponseBody {
  /// Reads to the end and expects so many bytes.
  func drain(expecting count: Int64, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let drained = try await drain()
    #expect(drained == count, sourceLocation: sourceLocation)
  }
}
