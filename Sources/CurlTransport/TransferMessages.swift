import StreamCore

/// The sentences of the errors that the transport makes itself.
enum TransferMessages {
  static let noDescriptor = (
    "no descriptor was free for a connection",
    "Raise the limit of open files (ulimit -n), or run fewer exchanges at once"
  )

  static let lostAnswer = (
    "the server ended the stream before the request's body had gone; its answer, if there was one, is lost",
    "Send it again if that does no harm, or over HTTP/1.1, where early answers are read"
  )

  static let noHTTP2 = (
    "the server doesn't offer HTTP/2, and nothing else is wanted", "Allow HTTP/1.1 for it"
  )

  static func timeout(_ kind: HTTPError.Kind, _ limit: Duration) -> (String, String) {
    let time = seconds(limit)
    return switch kind {
    case .admissionTimeout:
      (
        "waited \(time) for a place among the running exchanges",
        "Raise the limits of concurrent exchanges or the admission limit, or start fewer at once"
      )
    case .connectTimeout:
      ("no connection within \(time)", "Check host and port, or raise the connect limit")
    case .firstByteTimeout:
      ("no answer within \(time) after the request was sent", "Raise the first-byte limit for slow answers")
    case .idleTimeout:
      ("the peer made no progress for \(time)", "Try again, or raise the idle limit")
    default:
      ("not finished within the total limit of \(time)", "Raise the total limit")
    }
  }

  private static func seconds(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    if attoseconds == 0 { return "\(seconds) s" }
    let milliseconds = attoseconds / 1_000_000_000_000_000
    return seconds == 0
      ? "\(milliseconds) ms" : "\(Double(seconds) + Double(milliseconds) / 1000) s"
  }

  static func header(_ failure: HeaderBlockParser.Failure) -> (HTTPError.Kind, String) {
    switch failure {
    case .badStatusLine: (.malformedResponse, "the answer doesn't begin with a status line")
    case .badLine: (.malformedResponse, "the head holds a line that is no header field")
    case .lineTooLong(let limit): (.headTooLarge, "a header line is longer than \(limit) bytes")
    case .tooManyLines(let limit): (.headTooLarge, "the head has more than \(limit) lines")
    case .tooLarge(let limit): (.headTooLarge, "the head is larger than \(limit) bytes")
    }
  }
}
