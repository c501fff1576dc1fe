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
    lowerLimit(by: limit)
    let (good, errors) = await fetch(client, port: port, requests: requests, hosts: hosts)
    print("good \(good)")
    for error in Set(errors) { print("error \(error)") }
    let gauges = await client.connectionGauges()
    print("open \(gauges.open)")
    print("in-use \(gauges.inUse)")
    // Kept connections may hold nearly all descriptors: a look-up gets those that it needs.
    do {
      _ = try await client.send(.get("http://no-such-name.invalid/"))
      print("look-up answered")
    } catch {
      print("look-up \(error.kind.rawValue)")
    }
    await client.shutdown()
  }

  /// Leaves room for so many descriptors more.
  private static func lowerLimit(by room: Int) {
    var limits = rlimit()
    getrlimit(__rlimit_resource_t(7), &limits)
    limits.rlim_cur = rlim_t(ProcessFacts.descriptors + room)
    setrlimit(__rlimit_resource_t(7), &limits)
  }

  /// Many streams to a server that takes few on a connection.
  static func fewStreams(url: String, root: String, limit: Int, requests: Int) async throws {
    var configuration = ClientConfiguration()
    configuration.loops = 1
    configuration.tls.caFile = root
    configuration.proxy = .direct
    let client = Client(configuration: configuration)
    _ = try await client.send(.get(url)).body.drain()
    lowerLimit(by: limit)
    let locals = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<requests {
        group.addTask {
          do {
            let response = try await client.send(.get(url))
            _ = try await response.body.drain()
            return response.facts.connection.local
          } catch {
            print("error \(error)")
            return nil
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    print("good \(locals.count { $0 != nil })")
    print("connections \(Set(locals).count)")
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
