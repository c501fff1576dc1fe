import Synchronization

/// The items of all pages of a call, one after another, as an asynchronous sequence.
///
/// While one page's items are used the next page is fetched, and never more than that one. Leaving the loop or cancelling
/// the task ends what is under way. It is cold: nothing is sent before the first `next()`; each iteration begins anew.
public struct Pages<Page: Sendable, Item: Sendable>: AsyncSequence, Sendable {
  /// One item.
  public typealias Element = Item
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  let fetch: PageFetch<Page>
  let items: @Sendable (Page) -> [Item]
  let prefetches: Bool

  /// An iteration from the first page on.
  public func makeAsyncIterator() -> Iterator {
    Iterator(pages: WholePages(fetch: fetch, prefetches: prefetches).makeAsyncIterator(), items: items)
  }

  /// The pages whole, with the answers that they came in.
  public var pages: WholePages<Page> { WholePages(fetch: fetch, prefetches: prefetches) }

  /// The same without fetching ahead: the next page is asked for when its first item is.
  public func withoutPrefetch() -> Pages { Pages(fetch: fetch, items: items, prefetches: false) }

  /// Hands out the items.
  public struct Iterator: AsyncIteratorProtocol {
    private var pages: WholePages<Page>.Iterator
    private let items: @Sendable (Page) -> [Item]
    private var current: [Item] = []
    private var position = 0

    init(pages: WholePages<Page>.Iterator, items: @escaping @Sendable (Page) -> [Item]) {
      self.pages = pages
      self.items = items
    }

    /// The next item, nil behind the last.
    ///
    /// - Throws: what a page's call throws, as `Call.value(as:)`; behind it there is nothing more.
    public mutating func next() async throws(HTTPError) -> Item? {
      while position == current.count {
        guard let page = try await pages.next() else { return nil }
        current = items(page.value)
        position = 0
      }
      position += 1
      return current[position - 1]
    }

    /// The next item, nil behind the last, without leaving the caller's actor.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(HTTPError) -> Item? {
      try await next()
    }
  }
}

/// The pages of a call, one after another.
public struct WholePages<Page: Sendable>: AsyncSequence, Sendable {
  /// One page with its answer.
  public typealias Element = TypedResponse<Page>
  /// Every failure is an `HTTPError`.
  public typealias Failure = HTTPError

  let fetch: PageFetch<Page>
  let prefetches: Bool

  /// An iteration from the first page on.
  public func makeAsyncIterator() -> Iterator { Iterator(fetch: fetch, prefetches: prefetches) }

  /// Hands out the pages.
  public struct Iterator: AsyncIteratorProtocol {
    private let ahead: PageAhead<Page>
    private let prefetches: Bool
    private var step: PageFetch<Page>.Step?

    init(fetch: PageFetch<Page>, prefetches: Bool) {
      ahead = PageAhead(fetch)
      self.prefetches = prefetches
      step = .first
    }

    /// The next page, nil behind the last.
    ///
    /// - Throws: what a page's call throws, as `Call.value(as:)`; behind it there is nothing more.
    public mutating func next() async throws(HTTPError) -> TypedResponse<Page>? {
      guard let step else { return nil }
      do throws(HTTPError) {
        let fetched = try await ahead.take(step)
        self.step = fetched.next
        if prefetches, let next = fetched.next { ahead.begin(next) }
        return fetched.response
      } catch {
        self.step = nil
        throw error
      }
    }

    /// The next page, nil behind the last, without leaving the caller's actor.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(HTTPError) -> TypedResponse<Page>? {
      try await next()
    }
  }
}

/// Fetches one page and finds the way to the next.
struct PageFetch<Page: Sendable>: Sendable {
  enum Step: Sendable {
    case first
    /// `mark` is the URL of an earlier page, for noticing circles.
    case request(Request, of: Call, index: Int, mark: String)
  }

  struct Fetched: Sendable {
    let response: TypedResponse<Page>
    let next: Step?
  }

  let call: Call
  /// What has to be waited for before the first page.
  var prepare: @Sendable (Call) async throws(HTTPError) -> Call = { (call) throws(HTTPError) in call }
  let decode: @Sendable (RawResponse, any BodyDecoder) throws(HTTPError) -> Page
  let count: @Sendable (Page) -> Int
  let steps: PageSteps<Page>

  func run(_ step: Step) async throws(HTTPError) -> Fetched {
    try await CallRun(call).told { () async throws(HTTPError) in try await fetched(step) }
  }

  private func fetched(_ step: Step) async throws(HTTPError) -> Fetched {
    let request: Request
    let call: Call
    let index: Int
    var mark: String
    switch step {
    case .first:
      call = try await prepare(self.call)
      // What comes last is done for each page anew: a signature is for one URL.
      request = try call.plan.unfinishedRequest(call.client)
      (index, mark) = (0, request.url)
    case .request(let next, let first, let number, let earlier):
      (request, call, index, mark) = (next, first, number, earlier)
    }
    let run = CallRun(call.sending(request))
    let raw = try await run.validatedOrFail(decodes: true)
    let page = try decode(raw, run.decoder)
    let context = PageSteps<Page>.Context(
      page: page, response: raw, request: request, index: index, itemCount: count(page))
    let next: Request?
    do {
      next = try steps.next(context)
    } catch {
      throw (error as? HTTPError)
        ?? raw.error(.malformedResponse, "the way to the next page wasn't found: \(error)", nil)
        .adding { $0.apiError = error }
    }
    guard let next else { return Fetched(response: TypedResponse(page, raw), next: nil) }
    if next.url == request.url || next.url == mark, next.body.isEmpty {
      throw raw.error(
        .malformedResponse, "the next page is one that came before: page \(index + 1) is asked for again",
        "The server's links or cursors go in a circle")
    }
    // The mark moves on at each power of two: a circle of any length is met without remembering all of it.
    if index & (index - 1) == 0 { mark = request.url }
    return Fetched(
      response: TypedResponse(page, raw), next: .request(next, of: call, index: index + 1, mark: mark))
  }
}

/// At most one page that is fetched before it is asked for; ended with whoever iterates.
private final class PageAhead<Page: Sendable>: Sendable {
  private typealias Outcome = Result<PageFetch<Page>.Fetched, HTTPError>

  private let fetch: PageFetch<Page>
  private let task = Mutex<Task<Outcome, Never>?>(nil)

  init(_ fetch: PageFetch<Page>) { self.fetch = fetch }

  deinit { task.withLock { $0 }?.cancel() }

  func begin(_ step: PageFetch<Page>.Step) {
    let fetch = fetch
    let started = Task {
      do throws(HTTPError) {
        return Outcome.success(try await fetch.run(step))
      } catch {
        return .failure(error)
      }
    }
    task.withLock { $0 = started }
  }

  /// The page that is under way, else the one of this step.
  func take(_ step: PageFetch<Page>.Step) async throws(HTTPError) -> PageFetch<Page>.Fetched {
    guard let running = task.withLock({ $0.take() }) else { return try await fetch.run(step) }
    let outcome = await withTaskCancellationHandler {
      await running.value
    } onCancel: {
      running.cancel()
    }
    return try outcome.get()
  }
}

extension Call {
  /// The same call, sending this request in place of its own.
  func sending(_ request: Request) -> Call { with { $0.ready = request } }
}

extension Client {
  /// The items of all pages of a call.
  ///
  /// ```swift
  /// for try await issue in client.pages(client.path("issues"), of: Issue.self, next: .link()) { … }
  /// ```
  ///
  /// - Parameters:
  ///   - call: the first page.
  ///   - item: what a page is an array of.
  ///   - next: how the next page is found.
  public func pages<Item: Decodable & Sendable>(
    _ call: Call, of item: Item.Type, next: PageSteps<[Item]>
  ) -> Pages<[Item], Item> {
    pages(call, as: [Item].self, next: next) { $0 }
  }

  /// The items of all pages of a call, where a page holds more than its items.
  ///
  /// - Parameters:
  ///   - call: the first page.
  ///   - page: what a page is.
  ///   - next: how the next page is found.
  ///   - items: the items in a page.
  public func pages<Page: Decodable & Sendable, Item: Sendable>(
    _ call: Call, as page: Page.Type, next: PageSteps<Page>, items: @escaping @Sendable (Page) -> [Item]
  ) -> Pages<Page, Item> {
    let fetch = PageFetch<Page>(
      call: call, decode: { (raw, decoder) throws(HTTPError) in try raw.decode(Page.self, by: decoder) },
      count: { items($0).count }, steps: next)
    return Pages(fetch: fetch, items: items, prefetches: true)
  }

  /// The items of all pages of an endpoint.
  public func pages<E: Endpoint, Item: Sendable>(
    _ endpoint: E, next: PageSteps<E.Value>, items: @escaping @Sendable (E.Value) -> [Item]
  ) -> Pages<E.Value, Item> {
    let fetch = PageFetch<E.Value>(
      call: endpoint.call(self),
      prepare: { (call) async throws(HTTPError) in try await endpoint.prepare(call) },
      decode: { (raw, decoder) throws(HTTPError) in try endpoint.value(from: raw, by: decoder) },
      count: { items($0).count }, steps: next)
    return Pages(fetch: fetch, items: items, prefetches: true)
  }
}
