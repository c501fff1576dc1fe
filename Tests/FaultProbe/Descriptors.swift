import Glibc
import Penstock
import StreamCore

/// Many hosts with few descriptors: everything must end well all the same.
enum Descriptors {
  static func run(port: String, limit: Int, requests: Int, hosts: Int) async throws {
    var configuration = ClientConfiguration()
    configuration.loops = 2
    configuration.addressing.overrides = (0..<hosts).map { "host\($0).test:\(port):127.0.0.1" }
    configuration.proxy = .direct
    let client = Client(configuration: configuration)
    // What the runtime opens for its own is open after this.
    _ = try await client.send(.get("http://host0.test:\(port)/hello")).body.drain()
    var limits = rlimit()
    getrlimit(__rlimit_resource_t(7), &limits)
    limits.rlim_cur = rlim_t(ProcessFacts.descriptors + limit)
    setrlimit(__rlimit_resource_t(7), &limits)
    let (good, errors) = await fetch(client, port: port, requests: requests, hosts: hosts)
    print("good \(good)")
    for error in Set(errors) { print("error \(error)") }
    let gauges = await client.connectionGauges()
    print("open \(gauges.open)")
    print("in-use \(gauges.inUse)")
    await client.shutdown()
  }

  private static func fetch(
    _ client: Client, port: String, requests: Int, hosts: Int
  ) async -> (good: Int, errors: [String]) {
    await withTaskGroup(of: [String].self) { group in
      for worker in 0..<64 {
        group.addTask {
          var errors: [String] = []
          for index in stride(from: worker, to: requests, by: 64) {
            do {
              _ = try await client.send(.get("http://host\(index % hosts).test:\(port)/hello")).body.drain()
            } catch {
              errors.append("\(error)")
            }
          }
          return errors
        }
      }
      var errors: [String] = []
      for await found in group { errors += found }
      return (requests - errors.count, errors)
    }
  }
}
