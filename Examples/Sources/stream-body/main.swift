// Streams a URL's body and says how much came: stream-body URL
import Penstock

let url = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080/"
do {
  let response = try await Client.shared.send(.get(url))
  print(response.status, response.headers["content-type"] ?? "-")
  var count = 0
  for try await chunk in response.body { count += chunk.count }
  print("\(count) bytes")
} catch {
  print("failed: \(error)")
}
