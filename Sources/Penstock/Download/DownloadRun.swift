/// The way of one download: check the place → request → name → space → stream to the part file → sync →
/// rename.
struct DownloadRun: Sendable {
  let client: Client
  let request: Request
  let target: DownloadTarget
  let options: DownloadOptions
  let state: DownloadState
  let calls: FileCalls
  private let queue = FileQueue()
  private let begin = ContinuousClock.now

  /// How much of an error page is read for the message.
  private static let excerpt = 1024
  private static let excerptTime = Duration.seconds(2)

  init(
    client: Client, request: Request, target: DownloadTarget, options: DownloadOptions, state: DownloadState,
    calls: FileCalls
  ) {
    self.client = client
    self.request = request
    self.target = target
    self.options = options
    self.state = state
    self.calls = calls
  }

  func run() async {
    do throws(HTTPError) {
      state.finish(.success(try await load()))
    } catch {
      state.finish(.failure(error.naming(method: request.method, url: request.url)))
    }
  }

  private func load() async throws(HTTPError) -> DownloadedFile {
    let place = DownloadPlace(target, overwrite: options.overwrite)
    try await queue.run { () throws(HTTPError) in try place.checkBeforeRequest() }
    let response = try await client.send(identityRequest)
    guard response.status.isSuccess else { throw await refused(response) }
    if response.status == 206, !request.headers.contains("Range") {
      throw failure(.malformedResponse, "the server sent a part (206) that nobody asked for", response)
    }
    let part = try await queue.run { () throws(HTTPError) in
      try PartFile.open(
        try place.path(for: response), overwrite: options.overwrite, queue: queue, calls: calls)
    }
    do throws(HTTPError) {
      let total = response.announcedLength
      try await queue.run { () throws(HTTPError) in try part.checkSpace(for: total) }
      state.start(DownloadStart(url: response.url, file: part.finalPath, total: total))
      let (bytes, digest) = try await stream(response, to: part)
      let final = try await part.commit()
      return DownloadedFile(
        path: final, bytes: bytes, duration: ContinuousClock.now - begin, digest: digest,
        url: response.url, head: response.head, isEndVerified: response.body.isEndVerifiable)
    } catch {
      response.cancel()
      await part.close(keepingBytes: error.kind.isDisk)
      throw error
    }
  }

  /// Codings are left on: what is stored is what the server stores.
  private var identityRequest: Request {
    var request = request
    request.decodesContent = false
    if !request.headers.contains("Accept-Encoding") { request.headers.append("Accept-Encoding", "identity") }
    return request
  }

  private func stream(
    _ response: Response, to part: PartFile
  ) async throws(HTTPError) -> (Int64, Digest?) {
    var meter = ProgressMeter(total: response.announcedLength, now: .zero)
    let writer = FileWriter(part, limit: Int(clamping: options.writeBuffer.bytes))
    let hasher = try options.digest.map { algorithm throws(HTTPError) in try RunningDigest(algorithm) }
    var received: Int64 = 0
    var iterator = response.body.makeAsyncIterator()
    do throws(HTTPError) {
      while let chunk = try await iterator.next() {
        received += Int64(chunk.count)
        try hasher?.update(chunk)
        try await writer.write(chunk)
        if meter.update(received: received, decoded: received, now: ContinuousClock.now - begin) {
          state.report(meter.progress)
        }
      }
      try await writer.finish()
    } catch {
      await writer.stop()
      throw error.at(status: response.status, received: received)
    }
    _ = meter.update(received: received, decoded: received, now: ContinuousClock.now - begin)
    state.report(meter.finish(now: ContinuousClock.now - begin))
    return (received, try hasher?.finish())
  }

  /// The error for a status outside 2xx, with the beginning of what the server says of it.
  private func refused(_ response: Response) async -> HTTPError {
    let reason = PlainText.of(response.head.reason)
    let excerpt = await excerpt(response)
    return failure(
      .httpStatus,
      "the server answered \(response.status)" + (reason.isEmpty ? "" : " " + reason)
        + (excerpt.isEmpty ? "" : ": " + excerpt), response)
  }

  private func excerpt(_ response: Response) async -> String {
    // Compressed though nobody asked for it: nothing to read.
    if response.headers.contains("Content-Encoding") { return "" }
    // A page that doesn't come must not hold back the error.
    let limit = Task {
      try await Task.sleep(for: Self.excerptTime)
      response.cancel()
    }
    defer { limit.cancel() }
    var bytes: [UInt8] = []
    var iterator = response.body.makeAsyncIterator()
    while bytes.count < Self.excerpt, let chunk = try? await iterator.next() { bytes += chunk }
    return PlainText.of(String(decoding: bytes.prefix(Self.excerpt), as: UTF8.self))
  }

  private func failure(_ kind: HTTPError.Kind, _ message: String, _ response: Response) -> HTTPError {
    HTTPError(
      kind, phase: .head, message: message, method: request.method, url: response.url,
      status: response.status, mayHaveBeenProcessed: true)
  }
}

/// A digest that is fed chunk by chunk by one task.
final class RunningDigest: @unchecked Sendable {
  // Sendable: used by the one task that streams the body.
  private var hasher: DigestHasher?

  init(_ algorithm: Digest.Algorithm) throws(HTTPError) { hasher = try DigestHasher(algorithm) }

  func update(_ chunk: BodyChunk) throws(HTTPError) { try hasher?.update(chunk) }

  func finish() throws(HTTPError) -> Digest? { try hasher.take()?.finalize() }
}
