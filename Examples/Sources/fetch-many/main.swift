// Fetches many URLs, bounded in all and for each host, one line for each as it ends: fetch-many URL...
// Without arguments the URLs are read from standard input, one a line, as there is room for them.
import Penstock

/// Lines of standard input: a type, as a closure of this file would belong to the main actor.
struct InputLines: Sequence, IteratorProtocol {
  mutating func next() -> String? { readLine() }
}

let arguments = Array(CommandLine.arguments.dropFirst())
let urls = arguments.isEmpty ? AnySequence(InputLines()) : AnySequence(arguments)
let client = Client()
var options = BatchOptions()
options.retry = RetryPolicy()
let batch = client.batch(
  urls, limits: BatchLimits(total: 64, perHost: 16), options: options,
  request: { .get($0) },
  transform: { _, response in (response.status, try await response.body.drain()) })
var failed = 0
// One that fails is a result like the others; the loop goes on.
for try await result in batch {
  switch result.result {
  case .success(let (status, count)): print(status, count, result.input)
  case .failure(let error):
    failed += 1
    print("failed: \(error)")
  }
}
await client.shutdown()
print("\(failed) failed")
