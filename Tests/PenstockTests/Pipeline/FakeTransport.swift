import StreamCore
import Synchronization

@testable import Penstock

/// Plays exchanges without sockets: a closure says how each one goes.
final class FakeTransport: Transport {
  enum Answer: Sendable {
    case response(Int, [(String, String)] = [], String = "")
    /// `sent`: whether the server may have acted on it.
    case failure(HTTPError.Kind, sent: Bool = true)
    /// Nothing comes until `answer(_:with:)`.
    case hang
    /// The head comes, and then the body's beginning; nothing more until `finish`.
    case begin(Int, String)
  }

  private struct State: Sendable {
    var requests: [TransportRequest] = []
    var storages: [ResponseBodyStorage] = []
    var left: Set<Int> = []
    var waiters: [(Int, CheckedContinuation<Void, Never>)] = []
  }

  /// Knows which exchanges were left by their readers.
  private final class Producer: ExchangeProducer {
    let left: @Sendable () -> Void
    let wanted: @Sendable () -> Void
    init(left: @escaping @Sendable () -> Void, wanted: @escaping @Sendable () -> Void) {
      self.left = left
      self.wanted = wanted
    }
    func readerWantsMore() { wanted() }
    func readerLeft() { left() }
  }

  private let state = Mutex(State())
  private let play: @Sendable (TransportRequest, Int) -> Answer

  /// The closure gets the request and its number, from 0.
  init(_ play: @escaping @Sendable (TransportRequest, Int) -> Answer) { self.play = play }

  var requests: [TransportRequest] { state.withLock { $0.requests } }
  var count: Int { state.withLock { $0.requests.count } }
  /// The numbers of the exchanges that ended because nobody wanted them any more.
  var left: Set<Int> { state.withLock { $0.left } }

  func open(_ request: TransportRequest) throws(HTTPError) -> Exchange {
    let storage = ResponseBodyStorage(
      pool: SlabPool(), budget: MemoryBudget(limit: 1 << 20), watermark: .standard)
    let (number, due) = state.withLock { state in
      state.requests.append(request)
      state.storages.append(storage)
      let count = state.requests.count
      let due = state.waiters.filter { $0.0 <= count }
      state.waiters.removeAll { $0.0 <= count }
      return (count - 1, due)
    }
    storage.attach(
      Producer(left: { [weak self] in self?.state.withLock { _ = $0.left.insert(number) } }, wanted: {}))
    fill(storage, request, play(request, number))
    for (_, waiter) in due { waiter.resume() }
    return Exchange(storage, watermark: .standard, url: request.url)
  }

  /// Waits until so many exchanges were opened.
  func opened(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.requests.count >= count { return true }
        state.waiters.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Goes on with an exchange that hangs.
  func answer(_ number: Int, with answer: Answer) {
    let (storage, request) = state.withLock { ($0.storages[number], $0.requests[number]) }
    fill(storage, request, answer)
  }

  /// More of a body that was begun.
  func send(_ number: Int, _ text: String) {
    let storage = state.withLock { $0.storages[number] }
    Array(text.utf8).withUnsafeBytes { _ = storage.append($0) }
    storage.flush()
  }

  /// Ends a body that was begun.
  func finish(_ number: Int, failure: HTTPError.Kind? = nil) {
    let storage = state.withLock { $0.storages[number] }
    if let failure {
      storage.finish(.failure(HTTPError(failure, phase: .body, message: "failed")))
    } else {
      storage.finish(.complete(CopyOnWrite(ExchangeFacts())))
    }
    storage.flush()
  }

  private func fill(_ storage: ResponseBodyStorage, _ request: TransportRequest, _ answer: Answer) {
    switch answer {
    case .response(let status, let fields, let body):
      storage.deliver(.head(Self.head(status, fields, body.utf8.count), ExchangeFacts()))
      Array(body.utf8).withUnsafeBytes { if !$0.isEmpty { _ = storage.append($0) } }
      storage.finish(.complete(CopyOnWrite(ExchangeFacts())))
    case .begin(let status, let body):
      storage.deliver(.head(Self.head(status, [], nil), ExchangeFacts()))
      Array(body.utf8).withUnsafeBytes { if !$0.isEmpty { _ = storage.append($0) } }
    case .failure(let kind, let sent):
      storage.finish(
        .failure(
          HTTPError(
            kind, phase: .head, message: "\(kind.rawValue) failed", method: request.method, url: request.url,
            mayHaveBeenProcessed: sent)))
    case .hang: return
    }
    storage.flush()
  }

  private static func head(_ status: Int, _ fields: [(String, String)], _ length: Int?) -> ResponseHead {
    var headers = HTTPFields()
    for (name, value) in fields { headers.append(name, value) }
    if let length { headers.append("Content-Length", "\(length)") }
    return ResponseHead(status: HTTPStatus(status), headers: headers)
  }
}

extension Client {
  /// A client over a played transport, on a test's clock.
  static func fake(
    _ transport: FakeTransport, _ clock: TestClock, _ edit: (inout ClientConfiguration) -> Void = { _ in }
  ) -> Client {
    var configuration = ClientConfiguration()
    configuration.clock = clock.pipeline
    edit(&configuration)
    return Client(transport: transport, configuration: configuration)
  }

  /// The whole body as text.
  func text(_ request: Request) async throws -> String {
    String(decoding: try await send(request).body.collect(upTo: .mebibytes(1)), as: UTF8.self)
  }
}

/// Lets other tasks go on until a condition holds; it must come to hold without time passing.
func reached(_ isMet: () -> Bool) async -> Bool {
  for _ in 0..<20_000 {
    if isMet() { return true }
    await Task.yield()
    // Nothing tells: tasks on other threads need the processor, too.
    try? await Task.sleep(for: .microseconds(200))
  }
  return false
}
