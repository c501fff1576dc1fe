// Fetches many URLs side by side, one line for each: fetch-many URL...
import Penstock

let client = Client()
await withTaskGroup(of: String.self) { group in
  for url in CommandLine.arguments.dropFirst() {
    group.addTask {
      do {
        let response = try await client.send(.get(url))
        let bytes = try await response.body.collect(upTo: .mebibytes(16))
        return "\(response.status) \(bytes.count) \(url)"
      } catch {
        return "failed: \(error)"
      }
    }
  }
  for await line in group { print(line) }
}
await client.shutdown()
