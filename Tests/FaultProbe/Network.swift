import Penstock
import StreamCore

/// What depends on the process: its environment, and what is done once in it.
enum Network {
  static func get(_ url: String, root: String? = nil) async throws {
    var configuration = ClientConfiguration()
    configuration.tls.caFile = root
    let client = Client(configuration: configuration)
    let body = try await client.send(.get(url)).body.collect(upTo: .mebibytes(1))
    print("body \(String(decoding: body, as: UTF8.self))")
    await client.shutdown()
  }

  static func keyLog(_ url: String, root: String, path: String) async throws {
    try TLSKeyLog.start(file: path)
    try await get(url, root: root)
    do throws(HTTPError) { try TLSKeyLog.start(file: path) } catch { print("late \(error.kind.rawValue)") }
  }
}
