import Foundation

/// nghttp2's server: HTTP/2 over TLS, documents from a directory.
final class NghttpdServer: Sendable {
  let port: UInt16
  private let process: ChildProcess
  private let directory: TemporaryDirectory

  func url(_ path: String) -> String { "https://localhost:\(port)\(path)" }

  /// All that it has said; ends it. With "-v" among the arguments that is each frame.
  func stopped() async -> [String] {
    await process.stop()
    var lines: [String] = []
    for await line in process.lines { lines.append(line) }
    return lines
  }

  private init(_ port: UInt16, _ directory: TemporaryDirectory, _ arguments: [String]) throws {
    self.port = port
    self.directory = directory
    process = try ChildProcess(["nghttpd", "-d", directory.path] + arguments)
  }

  static func with<Value>(
    files: [String: Int] = [:], arguments: [String] = [], _ body: (NghttpdServer) async throws -> Value
  ) async throws -> Value {
    let pair = try await Certificates.shared().local
    let directory = try TemporaryDirectory()
    for (name, size) in files {
      try directory.write(name, [UInt8](repeating: UInt8(ascii: "x"), count: size))
    }
    let port = try FreePort.find()
    let server = try NghttpdServer(
      port, directory, arguments + ["-a", "127.0.0.1", "\(port)", pair.key, pair.certificate])
    return try await server.process.during {
      try await FreePort.waitUntilAnswered([port])
      return try await body(server)
    }
  }
}
