/// One header field as it came.
public struct RecordedField: Sendable, Hashable {
  /// The name, with the case that the client used.
  public var name: String
  /// The value without the blanks around it.
  public var value: String

  /// A field of this name and value.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// One request that a scripted server has read.
public struct RecordedRequest: Sendable, Hashable {
  /// Which connection it came on: 0 is the first that the server accepted.
  public var connection: Int
  /// The method as it came, such as `GET`.
  public var method: String
  /// The request target as it came, such as `/path?query`.
  public var target: String
  /// The version as it came, such as `HTTP/1.1`.
  public var version: String
  /// The header fields in their order, repeats kept.
  public var fields: [RecordedField]
  /// All bytes of the head, with the empty line that ends it.
  public var headBytes: [UInt8]
  /// The body without chunk framing, up to the server's limit of recorded bytes.
  public var body: [UInt8] = []
  /// The body with its framing as it came, up to the server's limit of recorded bytes.
  public var rawBody: [UInt8] = []
  /// How many bytes the body had without framing, those above the limit included.
  public var bodyLength: Int = 0
  /// The fields behind a chunked body.
  public var trailers: [RecordedField] = []
  /// When the head had come.
  public var headArrival: ContinuousClock.Instant
  /// When the whole request had come; nil until then.
  public var completion: ContinuousClock.Instant?

  /// The value of the first field of this name, in any case.
  public func value(of name: String) -> String? {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The values of all fields of this name, in any case.
  public func values(of name: String) -> [String] {
    fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// The body as text; bytes that are not UTF-8 are replaced.
  public var text: String { String(decoding: body, as: UTF8.self) }
}
