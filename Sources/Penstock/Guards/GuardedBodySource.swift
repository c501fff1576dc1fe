import Synchronization

/// The body of an attempt whose guards wait for its end.
final class GuardedBodySource: BodySource {
  private let inner: any BodySource
  private let passes: GuardPasses
  private let hasEnded = Atomic<Bool>(false)

  /// The source itself where no guard waits for it.
  static func wrap(_ source: any BodySource, _ passes: GuardPasses?) -> any BodySource {
    guard let passes, passes.lastWithBody else { return source }
    return GuardedBodySource(source, passes)
  }

  init(_ inner: any BodySource, _ passes: GuardPasses) {
    self.inner = inner
    self.passes = passes
  }

  deinit { end() }

  func next() async throws(HTTPError) -> BodyChunk? {
    do throws(HTTPError) {
      let chunk = try await inner.next()
      if chunk == nil { end() }
      return chunk
    } catch {
      end()
      throw error
    }
  }

  func ready() throws(HTTPError) -> ReadyChunk {
    do throws(HTTPError) {
      let ready = try inner.ready()
      if case .end = ready { end() }
      return ready
    } catch {
      end()
      throw error
    }
  }

  func abandon() {
    inner.abandon()
    end()
  }

  private func end() {
    if !hasEnded.exchange(true, ordering: .relaxed) { passes.bodyEnded() }
  }
}
