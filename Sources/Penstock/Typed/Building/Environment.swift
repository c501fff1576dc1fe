/// Where an API lives: one value for each of development, staging and production.
///
/// ```swift
/// extension Environment {
///   static let sandbox = Environment(host: "sandbox.example.com", basePath: "v1")
///   static let production = Environment(host: "api.example.com", basePath: "v1")
/// }
/// let client = Client(environment: .sandbox)
/// ```
public struct Environment: Sendable, Hashable {
  /// `https` or `http`.
  public var scheme: String
  /// The host's name or address; an IPv6 address with or without brackets.
  public var host: String
  /// The port; nil for the scheme's own.
  public var port: Int?
  /// What all paths begin with.
  public var basePath: String

  /// A place from its parts.
  public init(scheme: String = "https", host: String, port: Int? = nil, basePath: String = "") {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.basePath = basePath
  }

  /// The base URL that it stands for; checked with the first request.
  public var baseURL: String {
    let isBareIPv6 = host.contains(":") && !host.hasPrefix("[")
    let origin = "\(scheme)://\(isBareIPv6 ? "[\(host)]" : host)\(port.map { ":\($0)" } ?? "")"
    let path = basePath.split(separator: "/").joined(separator: "/")
    return PercentEncoder.encodeIllegal(path.isEmpty ? origin : "\(origin)/\(path)")
  }
}
