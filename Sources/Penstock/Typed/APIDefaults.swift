/// What the calls of a typed client have in common. What a call says for itself wins.
public struct APIDefaults: Sendable {
  /// What relative paths are put behind; nil: every request needs an absolute URL. A path in it is kept, and a query
  /// in it goes before the request's.
  public var baseURL: String?
  /// Makes bodies of values; JSON with Foundation's defaults.
  public var encoder: any BodyEncoder = JSONCoding.standard
  /// Makes values of bodies; JSON with Foundation's defaults.
  public var decoder: any BodyDecoder = JSONCoding.standard
  /// How values become query items.
  public var query = QueryEncoding.standard
  /// What an answer must be like; any status of 200 to 299.
  public var validation = Validation()
  /// Reads what the server says about a failure; without one, problem details (RFC 9457) are read.
  public var errorDecoding: ErrorDecoding?
  /// Sees each failure of a call, what can't be built and what can't be decoded included, and says what is thrown: the
  /// same error, or another one.
  public var onFailure: (@Sendable (HTTPError) -> HTTPError)?
  /// The largest body that is collected for a value; 64 MiB. A larger one throws `HTTPError.Kind.bodyTooLarge`.
  public var bodyLimit = ByteCount.mebibytes(64)
  /// How much of the body of a failed answer is kept for the error; 64 KiB.
  public var errorBodyLimit = ByteCount.kibibytes(64)

  /// The defaults.
  public init() {}

  /// Uses one coding both ways.
  public mutating func coding(_ coding: some BodyEncoder & BodyDecoder) {
    encoder = coding
    decoder = coding
  }

  /// Uses JSON of this kind both ways.
  public mutating func coding(_ coding: JSONCoding) {
    encoder = coding
    decoder = coding
  }
}
