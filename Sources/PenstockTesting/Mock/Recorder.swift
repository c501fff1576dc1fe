import FoundationEssentials
public import StreamCore
import Synchronization

/// Records real exchanges into a file, so that tests can play them back without a network.
///
/// ```swift
/// let client = Client(configuration: c) { Recorder(recording: $0, to: "fixtures/users.jsonl") }   // once
/// let client = Client(transport: try Recorder.playing("fixtures/users.jsonl"))                   // ever after
/// ```
///
/// The file holds a line of JSON for each exchange, added when its body came to its end or failed; what its reader left
/// isn't recorded. Secrets are cut: fields that hold them, user info and secret query items of URLs; bodies are kept as they
/// are, so look through a recording before you share it. Bodies pass at their reader's pace and are held until the exchange
/// is written, up to the limit of a recording.
public final class Recorder: Transport {
  private let inner: any Transport
  private let path: String
  private let limit: Int64
  private let writing = Mutex<HTTPError?>(nil)

  /// - Parameters:
  ///   - inner: what carries the exchanges.
  ///   - path: the file, added to.
  ///   - limit: the most body bytes of one exchange; a larger one passes, and is not recorded.
  public init(recording inner: any Transport, to path: String, limit: ByteCount = .mebibytes(16)) {
    self.inner = inner
    self.path = path
    self.limit = limit.bytes
  }

  /// A transport that gives recorded answers: to requests of the same method, URL and body those that were recorded, one
  /// after another, and the last one again and again. The boundaries of multipart bodies may differ.
  ///
  /// - Throws: `HTTPError.Kind.readFailed` for a file that can't be read or isn't a recording.
  public static func playing(_ path: String) throws(HTTPError) -> MockTransport {
    let lines = try FileContent.read(path).split(separator: UInt8(ascii: "\n"))
    var order: [String] = []
    var recordings: [String: [RecordedExchange]] = [:]
    for (index, line) in lines.enumerated() {
      guard let exchange = try? JSONDecoder().decode(RecordedExchange.self, from: Data(line)) else {
        throw HTTPError(
          .readFailed, phase: .file, message: "line \(index + 1) of \"\(path)\" is no recorded exchange")
      }
      let key = exchange.method + " " + exchange.url + " " + exchange.requestBody.base64EncodedString()
      if recordings[key] == nil { order.append(key) }
      recordings[key, default: []].append(exchange)
    }
    let mock = MockTransport()
    for key in order {
      guard let exchanges = recordings[key], let first = exchanges.first else { continue }
      let match = MockMatch("\(first.method) \(first.url)") { request in
        request.method.rawValue == first.method && Redaction.url(request.url) == first.url
          && RecordedExchange.comparable(request.body, request.headers["Content-Type"]) == first.requestBody
      }
      mock.on(match, exchanges.map(\.answer), repeatingLast: true)
    }
    return mock
  }

  /// What went wrong with writing the file; nil while all is well. Exchanges don't fail of it.
  public var failure: HTTPError? { writing.withLock { $0 } }

  /// Starts an exchange of the inner transport and passes on what happens.
  public func open(_ request: TransportRequest) throws(HTTPError) -> Exchange {
    guard !request.body.isEmpty else { return try open(request) { [] } }
    if case .bytes(let chunk) = request.body.content { return try open(request) { Array(chunk) } }
    // A body that is read as it is sent: only what is sent is known.
    let copy = BodyCopy(limit: limit)
    var content = request.body
    var request = request
    while case .deferred(let make) = content.content {
      content = try make()
      request.body = content
    }
    if case .stream(let make) = content.content {
      request.body = .source(length: content.length, isReplayable: content.isReplayable) {
        CopiedSource(make(), into: copy)
      }
    } else if case .file(let path) = content.content {
      let bytes = try FileContent.read(path)
      return try open(request) { bytes }
    }
    return try open(request) { copy.bytes }
  }

  private func open(
    _ request: TransportRequest, _ body: @escaping @Sendable () -> [UInt8]
  ) throws(HTTPError) -> Exchange {
    let inner = try inner.open(request)
    let (outer, feed) = Exchange.fed(
      url: inner.url, watermark: request.options.watermark, uploadLength: inner.uploadLength,
      reportsUpload: request.options.reportsUpload)
    let task = Task {
      var recorded = RecordedExchange(request.method, inner.url)
      let isWhole = await self.pass(inner, to: feed, request.options.reportsUpload, &recorded)
      recorded.requestBody = RecordedExchange.comparable(body(), request.headers["Content-Type"])
      if isWhole { self.write(recorded) }
    }
    feed.onLeave {
      task.cancel()
      inner.cancel()
    }
    return outer
  }

  /// Passes an exchange on; false where it isn't to be recorded.
  private func pass(
    _ inner: Exchange, to feed: ExchangeFeed, _ reportsUpload: Bool, _ recorded: inout RecordedExchange
  ) async -> Bool {
    var count: Int64 = 0
    do throws(HTTPError) {
      var seen: Int64 = reportsUpload ? 0 : .max
      heads: while true {
        switch try await inner.next(uploadSeen: seen) {
        case .informational(let head):
          recorded.informational.append(.init(head))
          feed.informational(head)
        case .uploaded(let total):
          seen = total
          feed.uploaded(total)
        case .head(let head, let facts):
          recorded.head = .init(head)
          feed.head(head, facts: facts)
          break heads
        }
      }
      let lease = SourceLease(inner.bodySource())
      while let chunk = try await lease.source.next() {
        count += Int64(chunk.count)
        if count <= limit { recorded.body.append(Data(chunk)) } else { recorded.body = [] }
        await feed.write(chunk)
      }
      if let trailers = inner.trailers {
        recorded.trailers = trailers.map { .init(name: $0.name, value: $0.value) }
        feed.trailers(trailers)
      }
      feed.finish(inner.finalFacts ?? ExchangeFacts())
    } catch {
      recorded.failure = error.kind.rawValue
      feed.fail(error)
      if error.kind == .cancelled { return false }
    }
    return count <= limit && !feed.readerHasLeft
  }

  private func write(_ recorded: RecordedExchange) {
    writing.withLock { failure in
      do throws(HTTPError) {
        guard var line = try? JSONEncoder().encode(recorded) else { return }
        line.append(UInt8(ascii: "\n"))
        try FileContent.append(Array(line), to: path)
      } catch {
        if failure == nil { failure = error }
      }
    }
  }
}

/// What of a request's body has been sent.
private final class BodyCopy: Sendable {
  private let state = Mutex<[UInt8]>([])
  private let limit: Int64

  init(limit: Int64) { self.limit = limit }

  var bytes: [UInt8] { state.withLock { $0 } }
  func begin() { state.withLock { $0 = [] } }
  func add(_ chunk: BodyChunk) {
    state.withLock { bytes in
      if Int64(bytes.count + chunk.count) <= limit { chunk.append(to: &bytes) }
    }
  }
}

private final class CopiedSource: BodySource {
  private let inner: any BodySource
  private let copy: BodyCopy

  init(_ inner: any BodySource, into copy: BodyCopy) {
    self.inner = inner
    self.copy = copy
    copy.begin()
  }

  func next() async throws(HTTPError) -> BodyChunk? {
    let chunk = try await inner.next()
    if let chunk { copy.add(chunk) }
    return chunk
  }

  func abandon() { inner.abandon() }
}
