public import StreamCore

/// What a mock transport answers: steps, one after another.
///
/// ```swift
/// .json(#"{"id": 7}"#)
/// .status(503, headers: ["Retry-After": "1"])
/// .steps([.head(200), .bytes(Array("abc".utf8)), .wait(gate), .fail(.receiveFailed)])
/// ```
public struct MockAnswer: Sendable {
  /// One thing that happens.
  public enum Step: Sendable {
    /// A 1xx head.
    case informational(ResponseHead)
    /// The final head.
    case head(ResponseHead)
    /// Body bytes; the next step waits until the reader wants more.
    case bytes([UInt8])
    /// Waits until a test opens the gate.
    case wait(MockGate)
    /// The trailers.
    case trailers(HTTPFields)
    /// The exchange fails, in the phase that it is in: before the head or in the body.
    case fail(HTTPError.Kind)
    /// The exchange fails with this error.
    case failure(HTTPError)

    /// The final head by its status.
    public static func head(_ status: HTTPStatus, headers: HTTPFields = [:]) -> Step {
      .head(ResponseHead(status: status, headers: headers))
    }
  }

  /// What happens; an exchange that has had its head ends behind the last step.
  public var steps: [Step]
  /// Times, connection and counters of the exchange.
  public var facts = ExchangeFacts()

  /// These steps.
  public init(_ steps: [Step]) { self.steps = steps }

  /// These steps.
  public static func steps(_ steps: [Step]) -> MockAnswer { MockAnswer(steps) }

  /// A status with fields and a body. Content-Length is added unless it is there.
  public static func status(
    _ status: HTTPStatus, headers: HTTPFields = [:], body: some Sequence<UInt8> = [UInt8]()
  ) -> MockAnswer {
    let bytes = Array(body)
    var headers = headers
    if !headers.contains("Transfer-Encoding"), status != 204, status != 304 {
      headers.setDefault("Content-Length", String(bytes.count))
    }
    return MockAnswer([.head(status, headers: headers)] + (bytes.isEmpty ? [] : [.bytes(bytes)]))
  }

  /// JSON as it is written.
  public static func json(
    _ text: String, status: HTTPStatus = 200, headers: HTTPFields = [:]
  ) -> MockAnswer {
    var headers = headers
    headers.setDefault("Content-Type", "application/json")
    return .status(status, headers: headers, body: text.utf8)
  }

  /// A text in UTF-8.
  public static func text(
    _ text: String, status: HTTPStatus = 200, headers: HTTPFields = [:]
  ) -> MockAnswer {
    var headers = headers
    headers.setDefault("Content-Type", "text/plain; charset=utf-8")
    return .status(status, headers: headers, body: text.utf8)
  }

  /// The content of a file, as JSON unless told otherwise; one that can't be read fails the exchange as
  /// `HTTPError.Kind.readFailed`, naming it.
  public static func file(
    _ path: String, contentType: String = "application/json", status: HTTPStatus = 200
  ) -> MockAnswer {
    do throws(HTTPError) {
      return .status(status, headers: ["Content-Type": contentType], body: try FileContent.read(path))
    } catch {
      return MockAnswer([.failure(error)])
    }
  }

  /// A body in several pieces, without a length.
  public static func stream(
    _ pieces: [[UInt8]], status: HTTPStatus = 200, headers: HTTPFields = [:]
  ) -> MockAnswer {
    var headers = headers
    headers.setDefault("Transfer-Encoding", "chunked")
    return MockAnswer([.head(status, headers: headers)] + pieces.map { .bytes($0) })
  }

  /// No answer: the exchange fails before a head.
  public static func failure(_ kind: HTTPError.Kind) -> MockAnswer { MockAnswer([.fail(kind)]) }

  /// The same behind a gate.
  public func after(_ gate: MockGate) -> MockAnswer {
    var answer = self
    answer.steps.insert(.wait(gate), at: 0)
    return answer
  }
}
