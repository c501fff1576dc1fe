// Fetches many URLs, bounded in all and for each host, one line for each as it ends: fetch-many URL...
// Without arguments the URLs are read from standard input, one a line, as there is room for them.
import Penstock

let arguments = Array(CommandLine.arguments.dropFirst())
let urls = arguments.isEmpty ? AnySequence(AnyIterator { readLine() }) : AnySequence(arguments)
let client = Client()
var options = BatchOptions()
options.retry = RetryPolicy()
let batch = client.batch(
  urls.lazy.map { Request.get($0) }, limits: BatchLimits(total: 64, perHost: 16), options: options)
var failed = 0
// One that fails is a result like the others; the loop goes on.
for try await result in batch {
  switch result.result {
  case .success(let response): print(response.status, response.body.count, result.input.url)
  case .failure(let error):
    failed += 1
    print("failed: \(error)")
  }
}
await client.shutdown()
print("\(failed) failed")
