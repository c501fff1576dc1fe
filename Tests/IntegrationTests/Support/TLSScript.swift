import Foundation

/// Bytes under TLS, scripted in `Tests/Scripts/tls_server.py`.
final class TLSScript: Sendable {
  let port: UInt16
  let process: ChildProcess

  var url: String { "https://localhost:\(port)/" }

  private init(_ process: ChildProcess, port: UInt16) {
    self.process = process
    self.port = port
  }

  /// Runs a body beside a server in one of the script's modes.
  static func with<Value>(
    _ mode: String, _ arguments: [String] = [], _ body: (TLSScript) async throws -> Value
  ) async throws -> Value {
    let pair = try await Certificates.shared().local
    let script = Tool.tests.appendingPathComponent("Scripts/tls_server.py").path
    let process = try ChildProcess(["python3", script, pair.certificate, pair.key, mode] + arguments)
    return try await process.during { try await body(TLSScript(process, port: try await process.port())) }
  }
}
