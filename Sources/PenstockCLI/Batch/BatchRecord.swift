import Penstock

/// What came of one exchange of a batch, as a result tells it. A class, as it is handed on more often than read.
final class BatchRecord: @unchecked Sendable {
  // Sendable: the one task that makes it fills it in; nobody changes it afterwards.
  var finalURL: String?
  var status: Int?
  /// Decoded bytes.
  var bytes: Int64 = 0
  /// Of the whole body; nil when it isn't whole.
  var sha256: String?
  var file: String?
  /// The body, where it is wanted.
  var body: [UInt8]?
  /// Why it isn't ok.
  var error: HTTPError?
  /// Where the time went, for the report.
  var timings: ExchangeFacts.Timings?
}

/// Makes a record of a response: reads its body, computes its digest, and puts it where it is wanted.
struct BatchFetch: Sendable {
  /// As much of the body of a refused status as is read: it may never end.
  private static let refusedBody: Int64 = 1 << 20

  let keepsBody: Bool
  let maximumBody: Int64?
  let folder: BatchFolder?
  let trace: Bool

  func callAsFunction(_ input: BatchInput, _ response: Response) async throws(HTTPError) -> BatchRecord {
    let record = BatchRecord()
    record.finalURL = response.url
    record.status = response.status.code
    if trace {
      let trace = Trace()
      trace.request(.get(input.url), response)
    }
    let isFine = response.status.isSuccess
    var file: BatchFile?
    if isFine, let folder {
      file = folder.file(named: input.details?.file ?? BatchFolder.name(of: input.url))
    }
    do throws(HTTPError) {
      try await read(response, file, record)
      if let file { record.file = try await file.finish() }
    } catch {
      await file?.discard()
      throw error
    }
    record.timings = (response.finalFacts ?? response.facts).timings
    if !isFine { record.error = Self.refused(response, input.url) }
    return record
  }

  private func read(
    _ response: Response, _ file: BatchFile?, _ record: BatchRecord
  ) async throws(HTTPError) {
    let isRefused = !response.status.isSuccess
    if let maximumBody, let length = response.body.contentLength, length > maximumBody {
      throw tooLarge(maximumBody, response, received: 0)
    }
    var hasher = try DigestHasher(.sha256)
    var body: [UInt8] = []
    var iterator = response.body.makeAsyncIterator()
    while let chunk = try await iterator.next() {
      record.bytes += Int64(chunk.count)
      if let maximumBody, record.bytes > maximumBody {
        throw tooLarge(maximumBody, response, received: record.bytes)
      }
      try hasher.update(chunk)
      if keepsBody { chunk.withUnsafeBytes { body.append(contentsOf: $0) } }
      if let file { try await file.write(chunk) }
      if isRefused, record.bytes > Self.refusedBody { return keep(body, in: record) }
    }
    record.sha256 = try hasher.finalize().hex
    keep(body, in: record)
  }

  private func keep(_ body: [UInt8], in record: BatchRecord) {
    if keepsBody { record.body = body }
  }

  private func tooLarge(_ limit: Int64, _ response: Response, received: Int64) -> HTTPError {
    HTTPError(
      .bodyTooLarge, phase: .body, message: "the body is larger than the limit of \(limit) bytes",
      url: response.url, status: response.status, received: received)
  }

  private static func refused(_ response: Response, _ url: String) -> HTTPError {
    let reason = response.head.reason
    return HTTPError(
      .httpStatus, phase: .head,
      message: "the server answered \(response.status)"
        + (reason.isEmpty ? "" : " " + TextColumns.printable(reason)),
      url: url, status: response.status)
  }
}

extension Trace {
  /// What `-v` tells of one exchange of many, when its head is there.
  fileprivate func request(_ request: Request, _ response: Response) {
    say("> \(Redaction.url(request.url))")
    head(response.head, response.facts)
  }
}
