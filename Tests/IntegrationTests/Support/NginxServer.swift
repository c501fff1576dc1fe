import Foundation

/// A real nginx with a configuration of its own: HTTP/1.1, TLS with HTTP/1.1, and TLS with HTTP/2.
final class NginxServer: Sendable {
  let plainPort: UInt16
  let tlsPort: UInt16
  let http2Port: UInt16
  private let directory: TemporaryDirectory
  private let process: ChildProcess

  private init(_ plain: UInt16, _ tls: UInt16, _ http2: UInt16, _ directory: TemporaryDirectory) throws {
    plainPort = plain
    tlsPort = tls
    http2Port = http2
    self.directory = directory
    process = try ChildProcess(
      ["nginx", "-p", directory.path, "-c", directory.file("nginx.conf"), "-e", directory.file("error.log")])
  }

  func http2(_ path: String, host: String = "localhost") -> String { "https://\(host):\(http2Port)\(path)" }
  func tls(_ path: String, host: String = "localhost") -> String { "https://\(host):\(tlsPort)\(path)" }
  func plain(_ path: String) -> String { "http://127.0.0.1:\(plainPort)\(path)" }

  /// What the access log says: "protocol status bytes connection requests-on-it path".
  func log() -> [String] {
    let text = try? String(contentsOfFile: directory.file("access.log"), encoding: .utf8)
    return text?.split(separator: "\n").map(String.init) ?? []
  }

  /// Runs a body with a server. `files` become documents; `extra` goes into each server block.
  static func with<Value>(
    certificate: Certificates.Pair? = nil, files: [String: Int] = [:], extra: String = "",
    _ body: (NginxServer) async throws -> Value
  ) async throws -> Value {
    let certificates = try await Certificates.shared()
    let pair = certificate ?? certificates.local
    let directory = try TemporaryDirectory()
    for (name, size) in files {
      try directory.write(name, [UInt8](repeating: UInt8(ascii: "x"), count: size))
    }
    let ports = try (0..<3).map { _ in try FreePort.find() }
    try directory.write("nginx.conf", configuration(directory, ports, pair, extra))
    let server = try NginxServer(ports[0], ports[1], ports[2], directory)
    return try await server.process.during {
      try await FreePort.waitUntilAnswered(ports)
      return try await body(server)
    }
  }

  private static func configuration(
    _ directory: TemporaryDirectory, _ ports: [UInt16], _ pair: Certificates.Pair, _ extra: String
  ) -> String {
    func server(_ port: UInt16, _ options: String) -> String {
      """
      server {
        listen 127.0.0.1:\(port)\(options);
        ssl_certificate \(pair.certificate);
        ssl_certificate_key \(pair.key);
        root \(directory.path);
        location = /hello { return 200 "hello"; }
        location = /small { client_max_body_size 1k; proxy_pass http://127.0.0.1:1/; }
        \(extra)
      }
      """
    }
    return """
      daemon off;
      master_process off;
      pid \(directory.file("nginx.pid"));
      error_log \(directory.file("error.log"));
      events { worker_connections 4096; }
      http {
        log_format facts "$server_protocol $status $body_bytes_sent $connection $connection_requests $uri";
        access_log \(directory.file("access.log")) facts;
        client_body_temp_path \(directory.file("body"));
        proxy_temp_path \(directory.file("proxy"));
        fastcgi_temp_path \(directory.file("fastcgi"));
        uwsgi_temp_path \(directory.file("uwsgi"));
        scgi_temp_path \(directory.file("scgi"));
        http2_max_concurrent_streams 128;
        keepalive_requests 100000;
        \(server(ports[0], ""))
        \(server(ports[1], " ssl"))
        \(server(ports[2], " ssl http2"))
      }
      """
  }
}
