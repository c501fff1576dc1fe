public import Penstock

extension BatchState {
  /// What a request is known by: a digest of method, URL, fields, and content in memory. As a digest, so that no
  /// secret of a request is in the file.
  public static func key(_ request: Request) -> String { key(of: BatchIdentity.key(request)) }

  /// The same for whatever tells an input from others.
  public static func key(of text: String) -> String {
    // SHA-256 is refused nowhere; were it, the text is as good but for its length.
    (try? Digest.of(Array(text.utf8), .sha256).hex) ?? text
  }

  /// The requests that didn't succeed in an earlier run, read as they are asked for.
  public func unfinished<Requests: Sequence>(
    _ requests: sending Requests
  ) -> UnfinishedRequests where Requests.Element == Request {
    UnfinishedRequests(self, requests.makeIterator())
  }

  /// What is to be recorded of a result of `client.batch`: done when there was a response with a status of 2xx,
  /// or 304 where the request was made conditional.
  public static func record(_ result: BatchResult<Request, BatchResponse>) -> StateRecord {
    let key = key(result.input)
    switch result.result {
    case .success(let response) where response.status.isSuccess || response.isNotModified:
      return .done(
        key, url: result.input.url, status: response.status.code, attempts: result.attempts,
        bytes: Int64(response.body.count))
    case .success(let response):
      return .failed(
        key, url: result.input.url, status: response.status.code, attempts: result.attempts,
        error: HTTPError(
          .httpStatus, phase: .head, message: "the server answered \(response.status)",
          status: response.status))
    case .failure(let error):
      return .failed(
        key, url: result.input.url, status: error.status?.code, attempts: result.attempts, error: error)
    }
  }
}

/// Requests without those that a state file knows as done. Iterated once.
public struct UnfinishedRequests: AsyncSequence {
  /// A request.
  public typealias Element = Request
  /// What reading the state file throws.
  public typealias Failure = HTTPError

  private let iterator: Iterator

  init(_ state: BatchState, _ requests: some IteratorProtocol<Request>) {
    iterator = Iterator(state, requests)
  }

  /// The iterator.
  public func makeAsyncIterator() -> Iterator { iterator }

  /// Looks requests up a few hundred at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private static let block = 256
    private let state: BatchState
    private var requests: any IteratorProtocol<Request>
    private var found: [Request] = []
    private var position = 0

    init(_ state: BatchState, _ requests: some IteratorProtocol<Request>) {
      self.state = state
      self.requests = requests
    }

    /// The next request, nil after the last one.
    public mutating func next() async throws(HTTPError) -> Request? {
      while position == found.count {
        var block: [Request] = []
        while block.count < Self.block, let request = requests.next() { block.append(request) }
        if block.isEmpty { return nil }
        let done = try await state.areDone(block.map(BatchState.key))
        found = zip(block, done).filter { !$0.1 }.map(\.0)
        position = 0
      }
      defer { position += 1 }
      return found[position]
    }

    /// The next request, without leaving the caller's actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(HTTPError) -> Request? {
      try await next()
    }
  }
}

extension BatchState: BatchValidators {
  /// Validators of an earlier answer; none when they can't be read.
  public func validators(for url: String) async -> Validators? {
    let found = try? await perform { database throws(HTTPError) in
      var found: Validators?
      try database.run("SELECT etag, modified FROM validators WHERE url = ?", [.text(url)]) { row in
        found = Validators(entityTag: row.text(0), lastModified: row.text(1))
      }
      return found
    }
    return found ?? nil
  }

  /// Keeps validators for later runs; that they can't be written is no failure of the request.
  public func store(_ validators: Validators, for url: String) async {
    _ = try? await perform { database throws(HTTPError) in
      try database.run(
        "INSERT OR REPLACE INTO validators (url, etag, modified) VALUES (?, ?, ?)",
        [.text(url), .optional(validators.entityTag), .optional(validators.lastModified)])
    }
  }
}
