import Penstock
import PenstockTesting

/// A typed client over a mock.
struct API {
  let mock = MockTransport()
  let client: Client

  init(
    _ baseURL: String = "https://api.test/v1", _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) {
    var configuration = ClientConfiguration()
    change(&configuration)
    client = Client(baseURL: baseURL, transport: mock, configuration: configuration)
  }

  /// The same answer for all.
  init(answering answer: MockAnswer, _ change: (inout ClientConfiguration) -> Void = { _ in }) {
    self.init("https://api.test", change)
    mock.on(.any, answer)
  }
}

struct User: Codable, Sendable, Equatable {
  var id: Int
  var name: String
}

/// What a call throws.
func failure<Value>(_ body: () async throws -> Value) async -> HTTPError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? HTTPError
  }
}
