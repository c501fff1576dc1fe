import Penstock
import StreamCore
import Testing

/// Clients for tests: ended when the body is done, whatever happened.
enum TestClient {
  static func with<Value>(
    _ edit: (inout ClientConfiguration) -> Void = { _ in }, _ body: (Client) async throws -> Value
  ) async throws -> Value {
    var configuration = ClientConfiguration()
    edit(&configuration)
    let client = Client(configuration: configuration)
    do {
      let value = try await body(client)
      await client.shutdown(.immediate)
      return value
    } catch {
      await client.shutdown(.immediate)
      throw error
    }
  }

  /// A client that trusts the tests' authority.
  static func trusting<Value>(
    _ edit: (inout ClientConfiguration) -> Void = { _ in }, _ body: (Client) async throws -> Value
  ) async throws -> Value {
    let root = try await Certificates.shared().root
    return try await with(
      { configuration in
        configuration.tls.caFile = root
        edit(&configuration)
      }, body)
  }
}

extension Client {
  /// The whole body as text.
  func text(_ request: Request) async throws -> String {
    String(decoding: try await send(request).body.collect(upTo: .mebibytes(64)), as: UTF8.self)
  }
}

/// What a body throws.
func failure<Value>(of body: () async throws -> Value) async -> HTTPError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error as? HTTPError
  }
}

extension Client {
  /// Whether nothing runs, waits or is held.
  var isIdle: Bool {
    let gauges = gauges
    return gauges.running == 0 && gauges.longLived == 0 && gauges.waiting == 0 && gauges.bufferedBytes == 0
  }
}

extension Client {
  /// Expects the whole body to be this text.
  func expect(
    _ text: String, from request: Request, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let received = try await self.text(request)
    #expect(received == text, sourceLocation: sourceLocation)
  }
}
