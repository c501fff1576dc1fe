import Dispatch

/// Where calls that may wait for a disk run, one after another: a queue with a thread of its own while it is
/// busy, so that neither the loop nor the threads that run tasks ever wait for a file.
struct FileQueue: Sendable {
  private let queue = DispatchQueue(label: "penstock.file")

  /// Runs it after all that was submitted before.
  func submit(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// Runs it after all that was submitted before, and waits for it; cancellation doesn't cut the wait short.
  func run<Value: Sendable>(
    _ body: @escaping @Sendable () throws(HTTPError) -> Value
  ) async throws(HTTPError) -> Value {
    let result: Result<Value, HTTPError> = await withUnsafeContinuation { continuation in
      queue.async {
        let result: Result<Value, HTTPError>
        do throws(HTTPError) {
          result = .success(try body())
        } catch {
          result = .failure(error)
        }
        continuation.resume(returning: result)
      }
    }
    return try result.get()
  }
}
