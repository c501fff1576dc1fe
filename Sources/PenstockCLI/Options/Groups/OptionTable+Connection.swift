extension OptionTable {
  static let time: [Option] = [
    .value(nil, "connect-timeout", "SECONDS", .time, "Until connected, TLS included (default 10)") {
      settings, text throws(UsageError) in
      settings.connectTimeout = try SecondsValue.parse(text)
    },
    .value(nil, "first-byte-timeout", "SECONDS", .time, "Until the answer begins (default 60)") {
      settings, text throws(UsageError) in
      settings.firstByteTimeout = try SecondsValue.parse(text)
    },
    .value(nil, "idle-timeout", "SECONDS", .time, "Without any progress (default 60)") {
      settings, text throws(UsageError) in
      settings.idleTimeout = try SecondsValue.parse(text)
    },
    .value("m", "max-time", "SECONDS", .time, "For the whole exchange (default none); 0 lifts any of these") {
      settings, text throws(UsageError) in
      settings.maximumTime = try SecondsValue.parse(text)
    },
  ]

  static let connection: [Option] = [
    .flag(nil, "http1.1", .connection, "Use HTTP/1.1") { $0.httpVersion = .http1 },
    .flag(nil, "http2", .connection, "Use HTTP/2 where the server offers it") { $0.httpVersion = .http2 },
    .flag("4", "ipv4", .connection, "Use IPv4 addresses alone") { $0.ipVersion = .v4 },
    .flag("6", "ipv6", .connection, "Use IPv6 addresses alone") { $0.ipVersion = .v6 },
    .value(nil, "interface", "NAME", .connection, "Connect from this interface or address") {
      settings, text throws(UsageError) in
      guard !text.isEmpty else { throw UsageError("a name is missing") }
      settings.networkInterface = text
    },
    .value(nil, "resolve", "HOST:PORT:ADDR", .connection, "Connect to this address for HOST and PORT") {
      settings, text throws(UsageError) in
      settings.resolutions.append(try ResolutionValue.parse(text))
    },
    .value(nil, "unix-socket", "PATH", .connection, "Connect to this socket instead of the host") {
      settings, text throws(UsageError) in
      settings.unixSocket = try PathValue.parseSocket(text)
    },
  ]

  static let security: [Option] = [
    .flag("k", "insecure", .security, "Don't verify the server's certificate") { $0.isInsecure = true },
    .value(nil, "cacert", "FILE", .security, "Trust the certificates in this PEM file") {
      settings, text throws(UsageError) in
      settings.authorityFile = try PathValue.parse(text)
    },
  ]
}
