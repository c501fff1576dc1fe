import Foundation
import Penstock

/// A peer that speaks HTTP/2 under TLS, sends heads and no end, and says when a stream is reset or the connection
/// ends: `Tests/Scripts/tls_server.py`.
final class HTTP2Peer {
  private let process = Process()
  /// It ends when this does: a thread of tasks starts it with all signals blocked.
  private let input = Pipe()
  private let output: FileHandle
  private let folder: String
  private var rest = ""
  private(set) var url = ""

  init(script: String) throws {
    folder = NSTemporaryDirectory() + "cancel-bench-\(getpid())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let openssl = Process()
    openssl.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    openssl.arguments = [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
      "-subj",
      "/CN=localhost", "-keyout", folder + "/key", "-out", folder + "/certificate",
    ]
    openssl.standardError = FileHandle.nullDevice
    try openssl.run()
    openssl.waitUntilExit()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", script, folder + "/certificate", folder + "/key", "h2-silent"]
    process.standardOutput = pipe
    process.standardInput = input
    output = pipe.fileHandleForReading
    try process.run()
    url = "https://127.0.0.1:\(line("port").split(separator: " ").last ?? "")/"
  }

  func stop() {
    try? input.fileHandleForWriting.close()
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Waits for a line with this beginning; those before it are passed over.
  func line(_ start: String) -> String {
    while true {
      while let end = rest.firstIndex(of: "\n") {
        let line = String(rest[..<end])
        rest.removeSubrange(...end)
        if line.hasPrefix(start) { return line }
      }
      let data = output.availableData
      if data.isEmpty { return "" }
      rest += String(decoding: data, as: UTF8.self)
    }
  }
}
