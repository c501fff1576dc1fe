extension HTTPError {
  /// How far an exchange had come when it failed.
  public enum Phase: String, Sendable, Hashable {
    /// Before a connection was sought: building the request, waiting for admission.
    case queue
    /// Name look-up, connecting, TLS.
    case connect
    /// Sending the request.
    case request
    /// Waiting for or reading the head.
    case head
    /// Reading the body.
    case body
    /// Decoding the content.
    case decode
    /// Writing to or reading from a file.
    case file
  }

  /// What went wrong. The raw value is stable and meant for programs.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The task was cancelled, or whoever read the stream has left.
    case cancelled
    /// The client was shut down.
    case shutdown
    /// The URL can't be parsed.
    case invalidURL = "url"
    /// The URL's scheme is neither http nor https.
    case unsupportedScheme = "scheme"
    /// The method is no token, or can't be used.
    case invalidMethod = "method"
    /// A header field's name or value holds a byte that it can't.
    case invalidHeader = "header"
    /// The body doesn't go with the method or with its stated length.
    case invalidBody = "request_body"
    /// A setting is out of range.
    case invalidConfiguration = "configuration"
    /// A stream that can be read once was read again.
    case alreadyConsumed = "consumed"
    /// The proxy's name was not found.
    case proxyNotResolved = "resolve_proxy"
    /// The host's name was not found.
    case hostNotResolved = "resolve"
    /// No connection could be made.
    case connectFailed = "connect"
    /// The circuit breaker of the origin is open: nothing was sent.
    case circuitOpen = "circuit_open"
    /// A proxy refused the tunnel.
    case proxyRefused = "proxy"
    /// Waited too long for a place among the running exchanges.
    case admissionTimeout = "admission_timeout"
    /// Connecting took too long.
    case connectTimeout = "connect_timeout"
    /// The server took too long to begin its answer.
    case firstByteTimeout = "first_byte_timeout"
    /// The peer made no progress for too long.
    case idleTimeout = "idle_timeout"
    /// The whole exchange took too long.
    case totalTimeout = "total_timeout"
    /// The TLS handshake failed.
    case tlsHandshake = "tls"
    /// The server's certificate isn't trusted, has expired or is for another name.
    case serverCertificate = "certificate"
    /// The client's certificate or key can't be used.
    case clientCertificate = "client_certificate"
    /// The server's key isn't the pinned one.
    case pinnedKeyMismatch = "pinned_key"
    /// The connection closed without a byte of an answer.
    case emptyReply = "empty_reply"
    /// Sending failed.
    case sendFailed = "send"
    /// Receiving failed: the connection was reset or lost.
    case receiveFailed = "receive"
    /// The connection was lost after the request was sent and before an answer came.
    case connectionLost = "lost"
    /// HTTP/2 framing or connection error.
    case http2Framing = "http2"
    /// The HTTP/2 stream was ended by an error.
    case http2Stream = "http2_stream"
    /// The response breaks the protocol.
    case malformedResponse = "malformed"
    /// Fewer bytes came than were promised, or a coded body was cut off.
    case truncated
    /// The content coding is damaged or unknown.
    case contentEncoding = "encoding"
    /// The body is larger than the limit.
    case bodyTooLarge = "body_limit"
    /// The head is larger than the limit.
    case headTooLarge = "header_limit"
    /// A line or record is longer than the limit.
    case lineTooLong = "line_limit"
    /// A value can't be encoded for the request.
    case encodingFailed = "encode"
    /// The content can't be decoded into the value that was asked for.
    case decodingFailed = "decode"
    /// The response doesn't pass a validation of the call: content type, or one of the caller's own.
    case validationFailed = "validation"
    /// A record of a stream of values isn't what it should be: damaged JSON, a row with too few columns, ….
    case invalidRecord = "record"
    /// A reader of a shared stream fell too far behind the others.
    case readerTooSlow = "slow_reader"
    /// The content isn't of the type that the call reads.
    case contentType = "content_type"
    /// The status isn't one that the call accepts.
    case httpStatus = "status"
    /// Too many redirects.
    case tooManyRedirects = "redirects"
    /// A redirect that must not be followed.
    case redirectRefused = "redirect"
    /// The server can't serve the range that was asked for.
    case rangeNotSatisfiable = "range"
    /// The request must be sent again, but its body can be read only once.
    case bodyNotReplayable = "replay"
    /// The credentials were refused or couldn't be refreshed.
    case loginDenied = "login"
    /// Writing to a file or output failed.
    case writeFailed = "write"
    /// The file exists already and must not be replaced.
    case fileExists = "exists"
    /// The disk or quota is full.
    case diskFull = "disk_full"
    /// The disk failed.
    case diskFailed = "disk"
    /// Reading a file or input failed.
    case readFailed = "read"
    /// The bytes don't have the expected digest.
    case checksumMismatch = "checksum"
    /// No descriptor, thread or memory was to be had.
    case outOfResources = "resources"
    /// The host's robots.txt forbids it.
    case robotsDisallowed = "robots"
    /// A closure of the caller's failed with an error of its own.
    case transformFailed = "transform"
    /// The transport failed in a way that has no kind of its own.
    case transport

    /// curl's number for it.
    public var code: Int {
      switch self {
      case .cancelled: 130
      case .invalidURL, .unsupportedScheme: 3
      case .invalidMethod, .invalidHeader, .invalidBody, .invalidConfiguration, .alreadyConsumed: 93
      case .proxyNotResolved: 5
      case .hostNotResolved: 6
      case .connectFailed: 7
      case .circuitOpen: 7
      case .malformedResponse, .invalidRecord, .contentType: 8
      case .robotsDisallowed: 9
      case .http2Framing: 16
      case .truncated: 18
      case .httpStatus: 22
      case .encodingFailed: 93
      case .decodingFailed, .validationFailed: 8
      case .writeFailed, .fileExists, .diskFull, .diskFailed: 23
      case .transformFailed: 23
      case .readFailed: 26
      case .outOfResources: 27
      case .admissionTimeout, .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout: 28
      case .rangeNotSatisfiable: 33
      case .tlsHandshake: 35
      case .shutdown: 42
      case .transport: 43
      case .tooManyRedirects, .redirectRefused: 47
      case .emptyReply: 52
      case .sendFailed: 55
      case .receiveFailed, .connectionLost: 56
      case .clientCertificate: 58
      case .serverCertificate: 60
      case .contentEncoding: 61
      case .bodyTooLarge, .headTooLarge, .lineTooLong, .readerTooSlow: 63
      case .bodyNotReplayable: 65
      case .loginDenied: 67
      case .pinnedKeyMismatch: 90
      case .http2Stream: 92
      case .checksumMismatch: 94
      case .proxyRefused: 97
      }
    }
  }
}
