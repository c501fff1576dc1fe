public import StreamCore

/// Signs requests for AWS and what speaks like it: Signature Version 4 in the Authorization field.
///
/// Signed are Host, the time, and all fields of the request but those that proxies change. A "+" in the query is
/// sent as "%20", which is what the service takes it for. Bodies of bytes and files are hashed; a stream can't be,
/// so it goes to S3 as `UNSIGNED-PAYLOAD` and is refused for other services.
public struct AWSCredential: Credential {
  /// An access key of AWS. It is never printed.
  public struct Keys: Sendable, CustomStringConvertible, CustomReflectable {
    let id: String
    let secret: Secret
    let sessionToken: Secret?

    /// Key and secret, with the session token of temporary ones.
    public init(id: String, secret: String, sessionToken: String? = nil) {
      self.id = id
      self.secret = Secret(secret)
      self.sessionToken = sessionToken.map { Secret($0) }
    }

    /// Nothing of the keys.
    public var description: String { "AWS keys" }
    /// Nothing of the keys.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
  }

  /// What the service is told of the content.
  public enum Payload: Sendable, Hashable {
    /// Its SHA-256; for S3 also as `x-amz-content-sha256`.
    case hashed
    /// S3's `UNSIGNED-PAYLOAD`: the content isn't protected, TLS apart.
    case unsigned
  }

  private let keys: @Sendable () async throws(HTTPError) -> Keys
  private let region: String
  private let service: String
  private let payload: Payload
  /// Who invented the scheme, and the middle of its field names: "aws" and "amz".
  var provider = (name: "aws", field: "amz")
  private let now: @Sendable () -> Int64

  /// Fixed keys for a region ("eu-central-1") and service ("s3", "execute-api").
  public init(_ keys: Keys, region: String, service: String, payload: Payload = .hashed) {
    self.init(region: region, service: service, payload: payload, now: AuthClock.system.wall) {
      () throws(HTTPError) in keys
    }
  }

  /// Keys that are asked for before every attempt, such as temporary ones.
  public init(
    region: String, service: String, payload: Payload = .hashed,
    keys: @escaping @Sendable () async throws(HTTPError) -> Keys
  ) {
    self.init(region: region, service: service, payload: payload, now: AuthClock.system.wall, keys: keys)
  }

  init(
    region: String, service: String, payload: Payload, now: @escaping @Sendable () -> Int64,
    keys: @escaping @Sendable () async throws(HTTPError) -> Keys
  ) {
    self.keys = keys
    self.region = region
    self.service = service
    self.payload = payload
    self.now = now
  }

  private var isS3: Bool { service == "s3" || service == "s3-object-lambda" || service == "s3express" }

  /// Fields that proxies and the transport make or change, and those that must not be signed.
  private static let unsigned: Set<String> = [
    "authorization", "user-agent", "accept-encoding", "connection", "expect", "transfer-encoding", "te",
    "upgrade", "proxy-authorization", "content-length", "x-amzn-trace-id", "trailer", "keep-alive",
  ]

  /// Throws `HTTPError.Kind.invalidConfiguration` for keys, region or service that can't be signed with, and
  /// `invalidBody` for a stream to another service than S3.
  public func authorize(
    _ request: inout Request, _ context: inout CredentialContext
  ) async throws(HTTPError) {
    guard !request.headers.contains("Authorization") else { return }
    let keys = try await keys()
    try SecretCheck.visible(keys.id, "the AWS key id")
    try SecretCheck.visible(region, "the AWS region")
    try SecretCheck.visible(service, "the AWS service")
    try request.settleBody()
    let target = try RequestTarget(request.url)
    let query = (target.query ?? "").split(separator: "+", omittingEmptySubsequences: false).joined(
      separator: "%20")
    if let old = target.query, query != old { request.url = target.replacing(query: query) }

    let hash = try await payloadHash(request)
    let signer = AWSSignature(
      keyID: keys.id, secret: keys.secret.value, region: region, service: service,
      time: AWSSignature.time(now()), provider: provider.name)
    let middle = provider.field.prefix(1).uppercased() + provider.field.dropFirst()
    request.headers["X-\(middle)-Date"] = signer.time
    if isS3 { request.headers["X-\(middle)-Content-Sha256"] = hash }
    if let token = keys.sessionToken {
      try SecretCheck.visible(token.value, "the AWS session token")
      request.headers["X-\(middle)-Security-Token"] = token.value
    }
    var fields = request.headers.filter { !Self.unsigned.contains($0.name.lowercased()) }
      .map { (name: $0.name, value: $0.value) }
    if !request.headers.contains("Host") { fields.append(("Host", context.origin.authority)) }
    let canonical = AWSSignature.Canonical(
      method: request.method.rawValue, path: target.path, query: query, fields: fields, payload: hash,
      encodesPathTwice: !isS3)
    request.headers.append("Authorization", try signer.field(for: canonical))
  }

  private func payloadHash(_ request: Request) async throws(HTTPError) -> String {
    if payload == .unsigned { return "UNSIGNED-PAYLOAD" }
    if let digest = try await BodyDigest.of(request.body) { return digest.hex }
    if isS3 { return "UNSIGNED-PAYLOAD" }
    throw HTTPError(
      .invalidBody, phase: .queue,
      message: "a streamed body can't be signed for the AWS service \"\(service)\"",
      advice: "Give bytes or a file", method: request.method, url: request.url)
  }
}

extension AWSCredential {
  /// By curl's notation "NAME[:FIELD[:REGION[:SERVICE]]]", such as "aws:amz:eu-central-1:s3"; region and service that
  /// are left out come from a host "service.region.…". Throws `HTTPError.Kind.invalidConfiguration` for what can't
  /// be read.
  ///
  /// - Parameter url: where the request goes.
  public init(curl text: String, url: String, _ keys: Keys) throws(HTTPError) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { String($0) }
    let labels = try HTTPOrigin(of: url).host.split(separator: ".").map { String($0) }
    func part(_ index: Int) -> String? { parts.count > index && !parts[index].isEmpty ? parts[index] : nil }
    guard parts.count <= 4, let name = part(0), let service = part(3) ?? labels.first,
      let region = part(2) ?? (labels.count > 2 ? labels[1] : nil),
      parts.joined().utf8.allSatisfy({ FieldSyntax.isTokenByte($0) })
    else {
      throw HTTPError(
        .invalidConfiguration, phase: .queue,
        message: "\"\(text)\" and the URL's host name no provider, region and service",
        advice: "Write aws:amz:REGION:SERVICE", url: url)
    }
    self.init(keys, region: region, service: service)
    provider = (name.lowercased(), (part(1) ?? (name.lowercased() == "aws" ? "amz" : name)).lowercased())
    if provider.field != "amz" { Redaction.markField("x-\(provider.field)-security-token") }
  }
}

extension Credential where Self == AWSCredential {
  /// AWS's Signature Version 4.
  public static func aws(
    _ keys: AWSCredential.Keys, region: String, service: String, payload: AWSCredential.Payload = .hashed
  ) -> AWSCredential { AWSCredential(keys, region: region, service: service, payload: payload) }
}
