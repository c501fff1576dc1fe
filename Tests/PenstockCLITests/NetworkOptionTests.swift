import Foundation
import Penstock
import PenstockTesting
import Testing

@testable import PenstockCLI

@Suite struct NetworkOptionTests {
  private func configuration(_ arguments: String...) throws -> ClientConfiguration {
    let invocation = try CommandLineParser.parse(["get"] + arguments + ["http://h/"])
    guard case .run(let settings) = invocation else { throw UsageError("no run") }
    var configuration = ClientConfiguration()
    configuration.tls.caFile = settings.authorityFile
    NetworkBuilder.apply(settings, to: &configuration)
    return configuration
  }

  // MARK: values

  @Test func `a proxy with its credentials and exceptions`() throws {
    var expected = try ProxyServer("http://p.test:3128")
    expected.user = "me"
    expected.password = "a:b"
    let made = try configuration(
      "-x", "p.test:3128", "--proxy-user", "me:a:b", "--noproxy", "one.test, 10.0.0.0/8")
    #expect(made.proxy == .through(expected, except: ["one.test", "10.0.0.0/8"]))
    #expect(try configuration("-x", "").proxy == .direct)
    #expect(try configuration("--noproxy", "*").proxy == .environmentExcept(["*"]))
    #expect(try configuration().proxy == .environment)
  }

  @Test func `TLS options`() throws {
    let pin = "sha256//" + String(repeating: "A", count: 43) + "="
    let made = try configuration(
      "--tlsv1.3", "--pinnedpubkey", pin + ";" + pin, "--capath", "/etc/ssl", "-E", "a\\:b.pem:secret",
      "--key", "k")
    #expect(made.tls.minimumVersion == .v1_3)
    #expect(made.tls.pinnedKeys == [pin, pin])
    #expect(made.tls.extraRoots == [.directory("/etc/ssl")])
    #expect(
      made.tls.identity == ClientIdentity(.files(certificate: "a:b.pem", key: "k"), password: "secret"))
    #expect(
      try configuration("--cert", "c.pem").tls.identity
        == ClientIdentity(.files(certificate: "c.pem", key: "c.pem")))
    #expect(try configuration("--tlsv1.2").tls.minimumVersion == .v1_2)
  }

  @Test(arguments: [
    ["-x", "ftp://p"], ["-x", "http://p:0"], ["--pinnedpubkey", "sha256//short"], ["--cert", ""],
    ["--proxy-user", ""],
    ["--key", "k"], ["--cert", ":password"],
  ])
  func `a bad value`(arguments: [String]) {
    #expect(throws: UsageError.self) { try CommandLineParser.parse(["get"] + arguments + ["http://h/"]) }
  }

  @Test func `a proxy's password isn't shown when its URL is bad`() {
    do {
      _ = try CommandLineParser.parse(["get", "-x", "http://me:secret@h:x", "http://h/"])
      Issue.record("taken")
    } catch {
      #expect(!error.message.contains("secret"))
    }
  }

  // MARK: runs

  @Test func `files that can't be read end with 26 before any request`() async throws {
    for option in ["--cacert", "--capath", "--cert", "--pinnedpubkey"] {
      let run = try await CommandRun.run(["get", option, "/no/such/file", "https://127.0.0.1:1/"])
      #expect(run.status == 26, "\(option)")
      #expect(run.errors.contains("/no/such/file"), "\(option)")
    }
  }

  @Test func `a proxy that isn't there, that isn't found, that refuses`() async throws {
    let absent = try await CommandRun.run(["get", "-x", "http://127.0.0.1:1", "http://h.test/"])
    #expect(absent.status == 7)
    let unknown = try await CommandRun.run(["get", "-x", "http://no-such-proxy.invalid:1", "http://h.test/"])
    #expect(unknown.status == 5)
    let proxy = try ScriptedServer(script: [.respondEach([.response(status: 403, body: "no")])])
    let refused = try await CommandRun.run(
      ["events", "-x", "http://me:secret@127.0.0.1:\(proxy.port)", "https://h.test/"])
    #expect(refused.status == 97)
    let last = try #require(refused.lines.last)
    #expect(last["code"] as? Int == 97)
    #expect(last["kind"] as? String == "proxy")
    #expect(last["phase"] as? String == "connect")
    #expect(last["status"] as? Int == 403)
    #expect(!refused.output.contains("secret"))
    #expect(proxy.requests.first?.target == "h.test:443")
    await proxy.stop()
  }

  @Test func `a request goes to the proxy, but for excepted hosts`() async throws {
    let proxy = try ScriptedServer(script: [.respondEach([.response(body: "proxied")])])
    let server = try ScriptedServer(script: [.respondEach([.response(body: "direct")])])
    let through = ["get", "-x", "http://127.0.0.1:\(proxy.port)", "--proxy-user", "me:pw"]
    let one = try await CommandRun.run(through + ["http://h.test/x"])
    #expect(one.output == "proxied")
    #expect(proxy.requests.first?.target == "http://h.test/x")
    #expect(proxy.requests.first?.value(of: "Proxy-Authorization") == "Basic bWU6cHc=")
    let other = try await CommandRun.run(through + ["--noproxy", "127.0.0.1", server.url("/")])
    #expect(other.output == "direct")
    #expect(server.requests.first?.value(of: "Proxy-Authorization") == nil)
    await proxy.stop()
    await server.stop()
  }

  @Test func `TLS with who speaks none`() async throws {
    let server = try ScriptedServer(script: [.send("220 hello\r\n"), .close])
    let run = try await CommandRun.run(["get", "--tlsv1.2", "https://127.0.0.1:\(server.port)/"])
    #expect(run.status == 35)
    await server.stop()
  }
}
