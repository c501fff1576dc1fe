public import StreamCore
import Synchronization

/// A transport without a network: answers requests as a test says, and remembers them.
///
/// ```swift
/// let mock = MockTransport()
/// mock.on(.call(.get, "/users/*"), .json(#"{"id": 7}"#))
/// mock.on(.call(.post, "/users"), [.status(503), .json("{}", status: 201)])   // one after the other
/// let client = Client(baseURL: "https://api.test", transport: mock)
/// …
/// #expect(mock.requests.map(\.path) == ["/users/7"])
/// #expect(mock.unusedRoutes.isEmpty)
/// ```
///
/// Routes are tried in the order in which they were added, the first that fits and has an answer left gives it. A request
/// that none fits fails as `HTTPError.Kind.transport`, naming it.
public final class MockTransport: Transport {
  private struct Route: Sendable {
    let match: MockMatch
    var answers: [MockAnswer]
    /// Whether the last answer is given again and again.
    let repeats: Bool
    let make: (@Sendable (MockRequest) -> MockAnswer)?
    var uses = 0
  }

  private struct State: Sendable {
    var routes: [Route] = []
    var requests: [MockRequest] = []
    var watching: [(count: Int, UnsafeContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  /// No route.
  public init() {}

  /// One route for all requests.
  public convenience init(_ answer: @escaping @Sendable (MockRequest) -> MockAnswer) {
    self.init()
    on(.any, answer)
  }

  /// Gives this answer, again and again.
  public func on(_ match: MockMatch, _ answer: MockAnswer) {
    add(Route(match: match, answers: [answer], repeats: true, make: nil))
  }

  /// Gives these answers, one for each request; behind the last the route fits no more, unless the last one repeats.
  public func on(_ match: MockMatch, _ answers: [MockAnswer], repeatingLast: Bool = false) {
    add(Route(match: match, answers: answers, repeats: repeatingLast, make: nil))
  }

  /// Gives what a closure makes of the request.
  public func on(_ match: MockMatch, _ make: @escaping @Sendable (MockRequest) -> MockAnswer) {
    add(Route(match: match, answers: [], repeats: true, make: make))
  }

  private func add(_ route: Route) { state.withLock { $0.routes.append(route) } }

  /// The requests so far, in the order in which their bodies had come.
  public var requests: [MockRequest] { state.withLock { $0.requests } }

  /// The routes that no request has come for, or that have answers left, as text.
  public var unusedRoutes: [String] {
    state.withLock { state in
      state.routes.filter { $0.uses == 0 || (!$0.repeats && $0.uses < $0.answers.count) }
        .map(\.match.description)
    }
  }

  /// Returns when so many requests have come.
  public func received(_ count: Int) async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let isThere = state.withLock { state in
        if state.requests.count >= count { return true }
        state.watching.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  /// Starts an exchange, which is played by a task of its own and ends with its reader.
  public func open(_ request: TransportRequest) throws(HTTPError) -> Exchange {
    let (exchange, feed) = Exchange.fed(
      url: request.url, watermark: request.options.watermark, uploadLength: request.body.length,
      reportsUpload: request.options.reportsUpload)
    let task = Task { await self.play(request, feed) }
    feed.onLeave { task.cancel() }
    return exchange
  }

  private func play(_ request: TransportRequest, _ feed: ExchangeFeed) async {
    let body: [UInt8]
    do throws(HTTPError) {
      body = try await RequestBodyReader.collect(request.body)
    } catch {
      return feed.fail(error)
    }
    feed.uploaded(Int64(body.count))
    let seen = MockRequest(
      method: request.method, url: request.url, headers: request.headers, body: body, options: request.options
    )
    guard let answer = answer(to: seen) else {
      return feed.fail(
        HTTPError(
          .transport, phase: .queue, message: "the mock has no answer for this request",
          advice:
            "Add a route: mock.on(.call(.\(request.method.rawValue.lowercased()), \"\(seen.path)\"), …)",
          method: request.method, url: request.url))
    }
    await play(answer, seen, feed)
  }

  private func answer(to request: MockRequest) -> MockAnswer? {
    enum Choice {
      case none
      case answer(MockAnswer)
      case make(@Sendable (MockRequest) -> MockAnswer)
    }
    // Predicates are the caller's code: they run outside the lock.
    let routes = state.withLock { $0.routes }
    let fitting = routes.indices.filter { routes[$0].match.matches(request) }
    let (choice, watchers) = state.withLock { state in
      state.requests.append(request)
      let count = state.requests.count
      let watchers = state.watching.filter { $0.count <= count }.map(\.1)
      state.watching.removeAll { $0.count <= count }
      for index in fitting {
        let route = state.routes[index]
        if let make = route.make {
          state.routes[index].uses += 1
          return (Choice.make(make), watchers)
        }
        let position = route.repeats ? min(route.uses, route.answers.count - 1) : route.uses
        guard route.answers.indices.contains(position) else { continue }
        state.routes[index].uses += 1
        return (.answer(route.answers[position]), watchers)
      }
      return (.none, watchers)
    }
    for watcher in watchers { watcher.resume() }
    switch choice {
    case .none: return nil
    case .answer(let answer): return answer
    case .make(let make): return make(request)
    }
  }

  private func play(_ answer: MockAnswer, _ request: MockRequest, _ feed: ExchangeFeed) async {
    var hasHead = false
    for step in answer.steps {
      if Task.isCancelled { break }
      switch step {
      case .informational(let head): feed.informational(head)
      case .head(let head):
        hasHead = true
        feed.head(head, facts: answer.facts)
      case .bytes(let bytes): if request.method != .head { await feed.write(bytes) }
      case .wait(let gate): await gate.wait()
      case .trailers(let fields): feed.trailers(fields)
      case .failure(let error): return feed.fail(error)
      case .fail(let kind):
        return feed.fail(
          HTTPError(
            kind, phase: hasHead ? .body : .head, message: "the mock fails here as \"\(kind.rawValue)\"",
            method: request.method, url: request.url, mayHaveBeenProcessed: hasHead))
      }
    }
    if hasHead { return feed.finish(answer.facts) }
    feed.fail(
      HTTPError(
        .emptyReply, phase: .head, message: "the mock's answer has no head", method: request.method,
        url: request.url))
  }
}
