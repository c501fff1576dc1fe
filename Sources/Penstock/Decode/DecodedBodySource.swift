/// A body with its content codings taken off as it is read, in the reader's task.
final class DecodedBodySource: PollableBodySource, @unchecked Sendable {
  // Sendable: a body source is used by one task at a time.
  private let inner: any BodySource
  private let decoder: ContentDecoder
  private let status: HTTPStatus
  private let method: HTTPMethod
  private let url: String
  private var hasEnded = false
  /// What is asked when nobody waits in a task.
  private lazy var polled = TaskPolledSource.pollable(inner)

  init(
    _ inner: any BodySource, decoder: ContentDecoder, status: HTTPStatus, method: HTTPMethod, url: String
  ) {
    self.inner = inner
    self.decoder = decoder
    self.status = status
    self.method = method
    self.url = url
  }

  /// Bytes taken from the wire so far.
  var received: Int64 { decoder.wireBytes }

  func next() async throws(HTTPError) -> BodyChunk? {
    while true {
      do throws(HTTPError) {
        if let piece = try decoder.next() { return piece }
      } catch {
        throw failed(error)
      }
      if hasEnded { return nil }
      guard let chunk = try await inner.next() else {
        hasEnded = true
        do throws(HTTPError) {
          try decoder.finish()
        } catch {
          throw failed(error)
        }
        return nil
      }
      decoder.feed(chunk)
    }
  }

  func poll(_ wake: @escaping @Sendable () -> Void) -> BodyPoll {
    while true {
      do throws(HTTPError) {
        if let piece = try decoder.next() { return .chunk(piece) }
        if hasEnded {
          try decoder.finish()
          return .end
        }
      } catch {
        return .failed(failed(error))
      }
      switch polled.poll(wake) {
      case .chunk(let chunk): decoder.feed(chunk)
      case .end: hasEnded = true
      case .failed(let error): return .failed(error)
      case .wait: return .wait
      }
    }
  }

  func abandon() { inner.abandon() }

  private func failed(_ error: HTTPError) -> HTTPError {
    inner.abandon()
    return error.naming(method: method, url: url).at(status: status, received: received)
  }
}
