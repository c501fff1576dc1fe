import Penstock

/// Moves the rows of one URL to another.
struct Pipeline {
  /// So many rows go with a POST.
  static let batchSize = 500
  /// So many POSTs are under way at a time; the download waits for them.
  static let parallel = 4

  let client = Client()
  let from: String
  let to: String

  init(from: String, to: String) {
    self.from = from
    self.to = to
  }

  /// What was moved, for people.
  func run() async throws -> String {
    let hash = BodyHash(.sha256)
    // 1: the download, as it arrives. 2: unpacked, a piece at a time.
    let file = try await client.send(.get(from)).body.hashed(by: hash).gunzipped()
    var rows = 0
    var posts = 0
    try await withThrowingTaskGroup(of: Void.self) { group in
      var batch: [UInt8] = []
      var count = 0
      // 3: one checked JSON value a turn.
      for try await row in file.compactJSONLines() {
        batch += row
        batch.append(UInt8(ascii: "\n"))
        count += 1
        rows += 1
        guard count == Self.batchSize else { continue }
        // 4: a full batch goes out; when enough are under way the loop waits, and with it the server.
        if posts >= Self.parallel { try await group.next() }
        let content = batch
        group.addTask { try await post(content) }
        posts += 1
        batch.removeAll(keepingCapacity: true)
        count = 0
      }
      if count > 0 {
        let content = batch
        group.addTask { try await post(content) }
        posts += 1
      }
      try await group.waitForAll()
    }
    await client.shutdown()
    return "\(rows) rows in \(posts) posts; the file's SHA-256 is \(hash.digest?.hex ?? "unknown")"
  }

  private func post(_ rows: [UInt8]) async throws {
    let request = Request.post(to, headers: ["Content-Type": "application/x-ndjson"], body: .bytes(rows))
    let response = try await client.send(request)
    guard response.status.isSuccess else { throw Refused(status: response.status) }
    // A short answer, read to its end, leaves the connection for the next post.
    _ = try await response.body.collect(upTo: .kibibytes(64))
  }

  struct Refused: Error {
    let status: HTTPStatus
  }
}
