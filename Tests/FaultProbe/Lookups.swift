import Penstock
import StreamCore

/// Requests for names that the resolver doesn't answer: callers leave at once, threads stay few, and a shutdown
/// doesn't wait.
enum Lookups {
  static func run() async throws {
    var configuration = ClientConfiguration()
    configuration.limits.total = 500
    configuration.limits.perHost = 500
    configuration.loops = 2
    let client = Client(configuration: configuration)
    let clock = ContinuousClock()

    // One name, many requests: one look-up.
    let same = (0..<50).map { _ in Task { try await client.send(.get("http://one.hang.test/")) } }
    _ = await ProcessFacts.eventually { client.gauges.running == 50 }
    _ = await ProcessFacts.eventually { Resolver.running == 1 }
    print("one-name \(Resolver.most)")

    // Many names: sixteen look-ups.
    let many = (0..<100).map { index in
      Task { try await client.send(.get("http://n\(index).hang.test/")) }
    }
    _ = await ProcessFacts.eventually { client.gauges.running == 150 }
    // A seventeenth look-up would start at once; that none does, no event tells.
    try await Task.sleep(for: .milliseconds(200))
    print("many-names \(Resolver.most)")

    let cancelled = clock.now
    for call in same + many { call.cancel() }
    var errors = 0
    for call in same + many {
      if case .failure(let error) = await call.result, (error as? HTTPError)?.kind == .cancelled {
        errors += 1
      }
    }
    print("cancelled \(errors)")
    print("cancelled-ms \(Int((clock.now - cancelled) / .milliseconds(1)))")

    // Requests that wait for a look-up fail with the client.
    let waiting = (0..<20).map { _ in Task { try await client.send(.get("http://two.hang.test/")) } }
    _ = await ProcessFacts.eventually { client.gauges.running == 20 }
    let ended = clock.now
    await client.shutdown(.immediate)
    var failed = 0
    for call in waiting {
      if case .failure(let error) = await call.result, (error as? HTTPError)?.kind == .shutdown {
        failed += 1
      }
    }
    print("shutdown \(failed)")
    print("shutdown-ms \(Int((clock.now - ended) / .milliseconds(1)))")
    Resolver.release()
    _ = await ProcessFacts.eventually { Resolver.running == 0 }
    print("left \(Resolver.running)")

    // The answer of one look-up is the answer for all that wait for it.
    let second = Client(configuration: configuration)
    let same2 = (0..<20).map { _ in Task { try await second.send(.get("http://three.hang.test/")) } }
    var unresolved = 0
    for call in same2 {
      if case .failure(let error) = await call.result, (error as? HTTPError)?.kind == .hostNotResolved {
        unresolved += 1
      }
    }
    print("unresolved \(unresolved)")
    await second.shutdown()
  }
}
