import StreamCore
import Synchronization

/// The end: digests, time, name; or giving up and what stays.
extension DownloadRun {
  func finish() async throws(HTTPError) -> DownloadedFile {
    let (part, digests, told, total, isAllocated) = shared.withLock { shared in
      (
        shared.part, shared.digests, shared.serverDigest, shared.plan.total ?? shared.plan.count,
        shared.isAllocated
      )
    }
    guard let part else { throw .cancelled(phase: .file) }
    guard part.written.end(from: 0) >= total else {
      throw HTTPError(
        .diskFailed, phase: .file, message: "\"\(part.path)\" lacks bytes that were written", url: request.url
      )
    }
    let found = try await digests?.finish(total: total) ?? []
    let isVerified = try await verify(found, told, part)
    if isAllocated || part.size != total {
      try await queue.run { () throws(HTTPError) in try part.cut(to: total) }
    }
    if options.keepsRemoteTime, let text = shared.withLock({ $0.head?.headers["Last-Modified"] }),
      let time = HTTPDate(text)
    {
      try await queue.run { () throws(HTTPError) in part.set(time: time) }
    }
    let now = elapsed
    let last = shared.withLock { shared in
      _ = shared.meter.update(received: total, decoded: total, now: now)
      return shared.meter.finish(now: now)
    }
    state.report(last)
    let final = try await part.commit()
    return shared.withLock { shared in
      DownloadedFile(
        path: final, bytes: total, duration: elapsed,
        digest: options.digest.flatMap { wanted in found.first { $0.algorithm == wanted } },
        url: shared.finalURL, head: shared.head ?? ResponseHead(status: 200),
        isEndVerified: shared.isEndVerifiable, resumedAt: shared.resumedAt, isChecksumVerified: isVerified)
    }
  }

  /// Compares the digests with what they must be.
  private func verify(_ found: [Digest], _ told: Digest?, _ part: PartFile) async throws(HTTPError) -> Bool {
    var isVerified = false
    for (expected, who) in [(options.checksum, "it must be"), (told, "the server says")] {
      guard let expected, let actual = found.first(where: { $0.algorithm == expected.algorithm }) else {
        continue
      }
      if actual == expected {
        isVerified = true
        continue
      }
      var advice = "The file is damaged, or another one than was meant; nothing of it is kept"
      if options.mismatch == .keepAside {
        advice = "The bad file is kept as \"\(try await part.setAside())\""
      }
      throw HTTPError(
        .checksumMismatch, phase: .file,
        message:
          "the \(expected.algorithm.rawValue) of the file is \(actual.hex), and \(who) \(expected.hex)",
        advice: advice, method: request.method, url: request.url, received: shared.withLock { $0.plan.count })
    }
    return isVerified
  }

  /// The file that is there is the one that would have come.
  func unchanged(_ head: ResponseHead, _ url: String) async throws(HTTPError) -> DownloadedFile {
    if let part = shared.withLock({ $0.part }) { await part.leave() }
    let place = place
    let (path, size) = try await queue.run { () throws(HTTPError) in
      let path = place.usualPath(head: head, url: url)
      return (path, DownloadPlace.size(path) ?? 0)
    }
    return DownloadedFile(
      path: path, bytes: size, duration: elapsed, digest: nil, url: url, head: head, isEndVerified: true,
      isUnchanged: true)
  }

  // MARK: giving up

  /// Whether what has come stays after this.
  func keepsAfter(_ error: HTTPError) -> Bool {
    if control.isDiscarded || error.kind == .checksumMismatch || error.kind == .bodyTooLarge { return false }
    if error.kind.isDisk { return true }
    guard options.resume != .never else { return false }
    return canContinue || (error.kind == .cancelled && options.keepsPartWhenCancelled && isPlain)
  }

  /// Settles what stays on the disk.
  func giveUp(_ error: HTTPError) async {
    let (part, owns, digests) = shared.withLock { ($0.part, $0.ownsPart, $0.digests) }
    guard let part else { return }
    await digests?.stop()
    guard owns || control.isDiscarded else {
      // It is an earlier run's, and was only looked at.
      await part.leave()
      return
    }
    let keeps = keepsAfter(error)
    if keeps { try? await record(isDurable: true) }
    await part.close(keepingBytes: keeps)
  }

  // MARK: refusals

  /// How much of an error page is read for the message.
  private static let excerpt = 1024
  private static let excerptTime = Duration.seconds(2)

  /// The error for a status outside 2xx, with the beginning of what the server says of it.
  func refused(_ response: Response) async -> HTTPError {
    if response.status == 206 {
      response.cancel()
      return failure(.malformedResponse, "the server sent a part (206) that nobody asked for", response)
    }
    if response.status == 416, shared.withLock({ $0.hasRestarted }) {
      response.cancel()
      return failure(
        .rangeNotSatisfiable, "the server has neither the rest of the file nor the whole (416)", response)
    }
    let reason = PlainText.of(response.head.reason)
    let answer = "\(response.status)" + (reason.isEmpty ? "" : " " + reason)
    let excerpt = ErrorExcerpt.of(await excerpt(response), answer: answer)
    return failure(
      .httpStatus, "the server answered " + answer + (excerpt.isEmpty ? "" : ": " + excerpt), response)
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
    return String(decoding: bytes.prefix(Self.excerpt), as: UTF8.self)
  }

  private func failure(_ kind: HTTPError.Kind, _ message: String, _ response: Response) -> HTTPError {
    HTTPError(
      kind, phase: .head, message: message, method: request.method, url: response.url,
      status: response.status, mayHaveBeenProcessed: true)
  }
}
