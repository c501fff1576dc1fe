import Foundation
import FoundationNetworking
import Synchronization

/// Counts what a data task delivers and resumes the waiter at the end.
final class ByteCounter: NSObject, URLSessionDataDelegate, Sendable {
  private struct State {
    var bytes = 0
    var waiter: CheckedContinuation<Void, any Error>?
  }

  private let state = Mutex(State())

  var bytes: Int { state.withLock { $0.bytes } }

  func run(_ task: URLSessionDataTask) async throws {
    try await withCheckedThrowingContinuation { continuation in
      state.withLock { $0.waiter = continuation }
      task.resume()
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    state.withLock { $0.bytes += data.count }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let waiter = state.withLock { state in
      let waiter = state.waiter
      state.waiter = nil
      return waiter
    }
    if let error { waiter?.resume(throwing: error) } else { waiter?.resume() }
  }
}
