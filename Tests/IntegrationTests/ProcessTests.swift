import Foundation
import Testing

/// What shows only in a process of its own.
@Suite(.timeLimit(.minutes(2)), .serialized) struct ProcessTests {
  private func run(
    _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> (facts: [String: Int], lines: [String], status: Int32) {
    let child = try ChildProcess([Tool.built("fault-probe")] + arguments, environment: environment)
    var facts: [String: Int] = [:]
    var lines: [String] = []
    for await line in child.lines {
      lines.append(line)
      let parts = line.split(separator: " ")
      if parts.count == 2, let number = Int(parts[1]) { facts[String(parts[0])] = number }
    }
    return (facts, lines, await child.status())
  }

  @Test(
    "many exchanges leave no descriptor, thread or transfer behind",
    arguments: [("requests", 10_000), ("cancelled", 1000)])
  func leftovers(scenario: String, count: Int) async throws {
    let (facts, _, status) = try await run([scenario, "\(count)"])
    #expect(status == 0)
    #expect(facts["idle"] == 1)
    #expect(facts["transfers"] == 0)
    #expect(facts["descriptors"].map { $0 <= 0 } == true, "\(facts)")
    #expect(facts["loops"] == 0)
  }

  @Test(
    "ten thousand requests of one task leave no more than a thousand",
    .enabled(if: Tool.showsMemory, "memory is the sanitizer's"))
  func one_task() async throws {
    let (facts, lines, status) = try await run(["one-task"])
    #expect(status == 0)
    #expect(facts["transfers-0"] == 0 && facts["transfers-9"] == 0, "\(lines)")
    let growth = (facts["kibibytes-9"] ?? .max) - (facts["kibibytes-0"] ?? 0)
    #expect(growth < 8 << 10, "\(lines)")
  }

  @Test func `a slow reader of a fast body holds little memory`() async throws {
    let (facts, lines, status) = try await run(["slow-reader"])
    #expect(status == 0)
    #expect(facts["chunks"] == 30)
    #expect(facts["kibibytes"].map { $0 < 16 << 10 } == true, "\(lines)")
  }

  @Test(
    "every stream of values and every operator holds little while much goes through it",
    .enabled(if: Tool.showsMemory, "memory is the sanitizer's"))
  func streams() async throws {
    let (facts, lines, status) = try await run(["streams", "6"])
    #expect(status == 0 && facts.count == 12, "\(lines)")
    for (_, kibibytes) in facts { #expect(kibibytes < 3 << 10, "\(lines)") }
  }

  @Test(
    "a pipeline from one server through three stages to another holds little while much goes through it",
    .enabled(if: Tool.showsMemory, "memory is the sanitizer's"))
  func pipeline() async throws {
    let (facts, lines, status) = try await run(["pipeline", "24"])
    #expect(status == 0 && (facts["pipeline-rows"] ?? 0) > 900_000, "\(lines)")
    #expect(facts["pipeline-kibibytes"].map { $0 < 16 << 10 } == true, "\(lines)")
  }

  @Test(
    "a large upload and a large download share one connection of HTTP/2, whole and in little memory",
    .enabled(if: Tool.hasNghttpd && Tool.showsMemory, "needs nghttpd, openssl and its own memory"))
  func both_ways() async throws {
    let root = try await Certificates.shared().root
    try await NghttpdServer.with(
      files: ["large": 100 << 20, "small": 10], arguments: ["--echo-upload"]
    ) { server in
      let (facts, lines, status) = try await run(["both-ways", server.url(""), root, "100"])
      #expect(status == 0)
      for name in ["echo", "download"] {
        #expect(facts[name] == 1, "\(lines)")
        #expect(facts[name + "-kibibytes"].map { $0 <= 24 << 10 } == true, "\(lines)")
      }
      #expect(
        Set(lines.filter { $0.contains("-local ") }.compactMap { $0.split(separator: " ").last }).count == 1)
    }
  }

  @Test(
    "calls of all kinds, left at any point, leave nothing behind whatever the servers do",
    .enabled(if: Tool.hasNginx, "needs nginx and openssl"), arguments: [1000, 2000])
  func storm(seed: Int) async throws {
    try await NginxServer.with(files: ["big": 3_000_000]) { server in
      let urls = ["/big", "/small", "/hello", "/nothing"].flatMap { [server.http2($0), server.tls($0)] }
      let (facts, lines, status) = try await run(["storm", "\(seed)", "6"] + urls)
      // A hang, an error of a foreign type or a client that stays busy is a line of its own.
      #expect(status == 0 && lines.count == 3, "\(lines)")
      #expect(facts["transfers"] == 0)
      #expect(facts["descriptors"].map { $0 <= 0 } == true, "\(facts)")
      #expect(facts["loops"] == 0)
    }
  }

  @Test(
    "look-ups that hang hold no caller and few threads",
    .enabled(if: Tool.compiler != nil, "needs a C compiler"))
  func hanging_lookups() async throws {
    let directory = try TemporaryDirectory()
    let source = Tool.tests.appendingPathComponent("Scripts/hanging_resolver.c").path
    let library = directory.file("resolver.so")
    try await ChildProcess.run([Tool.compiler ?? "cc", "-shared", "-fPIC", "-o", library, source])
    let (facts, lines, status) = try await run(["lookups"], environment: ["LD_PRELOAD": library])
    #expect(status == 0)
    #expect(facts["one-name"] == 1)
    #expect(facts["many-names"].map { $0 > 1 && $0 <= 16 } == true, "\(lines)")
    #expect(facts["cancelled"] == 150)
    #expect(facts["cancelled-ms"].map { $0 < 1000 } == true, "\(lines)")
    #expect(facts["shutdown"] == 20)
    #expect(facts["shutdown-ms"].map { $0 < 2000 } == true, "\(lines)")
    #expect(facts["left"] == 0)
    #expect(facts["unresolved"] == 20)
  }

  @Test func `a process ends at once with transfers under way`() async throws {
    let begin = ContinuousClock.now
    let (facts, _, status) = try await run(["exit"])
    #expect(status == 7)
    #expect(facts["active"] == 10)
    #expect(ContinuousClock.now - begin < .seconds(10))
  }

  @Test func `the last reference may go on the loop thread`() async throws {
    let (facts, _, status) = try await run(["drop-on-loop"])
    #expect(status == 0)
    #expect(facts["closed"] == 1)
    #expect(facts["ended"] == 1)
  }

  @Test(
    "a reset under TLS raises no SIGPIPE", .enabled(if: Tool.hasPython, "needs python3 and openssl"))
  func no_sigpipe() async throws {
    let root = try await Certificates.shared().root
    try await TLSScript.with("reset") { server in
      let (facts, lines, status) = try await run(["tls-reset", server.url, root])
      #expect(status == 0)
      #expect(facts["survived"] == 1)
      #expect(lines.count { $0.hasPrefix("error") } == 20)
    }
  }
}
