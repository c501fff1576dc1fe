import Foundation
import PollLoop
import StreamCore
import Testing

@testable import CurlTransport

struct TrustTests {
  private static let certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"

  @Test func `certificates are found between what is for people`() {
    let text = "Subject: one\n\(Self.certificate)\n\nSubject: two\r\n\(Self.certificate)"
    let found = PEMFiles.certificates(in: Array(text.utf8))
    #expect(found.count == 2)
    #expect(found.allSatisfy { String(decoding: $0, as: UTF8.self) == Self.certificate + "\n" })
    #expect(
      PEMFiles.certificates(in: Array("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----".utf8)).isEmpty)
  }

  @Test func `a text that is cut holds what is whole`() {
    let text = Array((Self.certificate + "\n" + Self.certificate + "\n").utf8)
    let one = Self.certificate.utf8.count
    for cut in 0...text.count {
      let expected = cut < one ? 0 : cut < 2 * one + 1 ? 1 : 2
      #expect(PEMFiles.certificates(in: Array(text[..<cut])).count == expected, "\(cut)")
    }
  }

  @Test func `a file in memory can be opened by its path, which no other has, and goes with its owner`()
    throws
  {
    var paths: Set<String> = []
    for number in 0..<100 {
      let file = try #require(MemoryFile(Array("hello \(number)".utf8)))
      #expect(paths.insert(file.path).inserted)
      #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "hello \(number)")
    }
    // The numbers of the descriptors came again, the paths didn't.
    let numbers = paths.map { $0.drop { !$0.isNumber } }
    #expect(Set(numbers).count < 100)
  }

  // MARK: profiles

  private func request(_ edit: (inout TransportOptions) -> Void = { _ in }) -> TransportRequest {
    var options = TransportOptions()
    edit(&options)
    return TransportRequest(method: .get, url: "https://h/", options: options)
  }

  @Test func `equal options have one profile, whatever the overrides`() throws {
    let cache = ProfileCache(age: ConnectionAge())
    let plain = try cache.profile(for: request())
    #expect(try cache.profile(for: request()) === plain)
    #expect(try cache.profile(for: request { $0.addressing.overrides = ["a:1:1.2.3.4"] }) === plain)
    #expect(try cache.profile(for: request { $0.timeouts.connect = .seconds(1) }) === plain)
    let strict = try cache.profile(for: request { $0.tls.minimumVersion = .v1_3 })
    #expect(strict !== plain)
    #expect(try cache.profile(for: request { $0.tls.minimumVersion = .v1_3 }) === strict)
    let proxied = try cache.profile(for: request { $0.proxy = ProxyServer(.http, host: "p", port: 1) })
    #expect(proxied !== plain)
    #expect(try cache.profile(for: request { $0.proxy = ProxyServer(.http, host: "p", port: 2) }) !== proxied)
    #expect(try cache.profile(for: request()) === plain)
  }

  @Test func `what is wrong with options is told for each request`() {
    let cache = ProfileCache(age: ConnectionAge())
    for _ in 0..<2 {
      do throws(HTTPError) {
        _ = try cache.profile(
          for: request {
            $0.tls.minimumVersion = .v1_3
            $0.tls.maximumVersion = .v1_2
          })
        Issue.record("taken")
      } catch {
        #expect(error.kind == .invalidConfiguration)
        #expect(error.message.contains("tls.minimumVersion"))
        #expect(error.url == "https://h/")
      }
    }
    do throws(HTTPError) {
      _ = try cache.profile(
        for: request {
          var proxy = ProxyServer(.https, host: "p", port: 1)
          proxy.tls.pinnedKeys = ["sha256//x"]
          $0.proxy = proxy
        })
      Issue.record("taken")
    } catch {
      #expect(error.message.contains("proxy.tls.pinnedKeys"))
    }
  }

  @Test func `requests that can't be are refused`() {
    func kind(_ edit: (inout TransportOptions) -> Void) -> HTTPError.Kind? {
      do throws(HTTPError) {
        try RequestCheck.check(request(edit))
        return nil
      } catch {
        return error.kind
      }
    }
    #expect(kind { $0.streamWeight = 0 } == .invalidConfiguration)
    #expect(kind { $0.streamWeight = 257 } == .invalidConfiguration)
    #expect(kind { $0.streamWeight = 256 } == nil)
    #expect(kind { $0.proxy = ProxyServer(.http, host: "", port: 1) } == .invalidConfiguration)
    #expect(kind { $0.proxy = ProxyServer(.http, host: "p", port: 1, user: "a:b") } == .invalidConfiguration)
    #expect(kind { $0.proxy = ProxyServer(.http, host: "p", port: 1, user: "a\0") } == .invalidConfiguration)
    #expect(kind { $0.addressing.unixSocket = "a\0b" } == .invalidConfiguration)
  }

  // MARK: memories

  @Test func `chains are kept by connection, and not for ever`() {
    var memory = CertificateMemory()
    func connection(_ number: Int) -> ExchangeFacts.Connection {
      ExchangeFacts.Connection(reused: false, ends: ConnectionEnds(remote: "r:1", local: "l:\(number)"))
    }
    for number in 0..<5000 {
      memory.remember([PeerCertificate(lines: ["Subject:\(number)"])], for: connection(number))
    }
    #expect(memory.chain(of: connection(4999)).first?.subject == "4999")
    #expect(memory.chain(of: connection(0)).isEmpty)
    memory.remember([PeerCertificate(lines: ["Subject:again"])], for: connection(4999))
    #expect(memory.chain(of: connection(4999)).first?.subject == "again")
  }

  @Test func `hosts beyond ASCII`() throws {
    let url = try CurlURL("http://Bücher.test:8080/ü")
    #expect(url.host == "xn--bcher-kva.test")
    #expect(url.origin == "http://xn--bcher-kva.test:8080")
    #expect(url.text.hasPrefix("http://xn--bcher-kva.test:8080/"))
    #expect(try CurlURL("https://faß.de/").host == "xn--fa-hia.de")
  }

  @Test func `an address that holds for the asker alone frees them one by one`() {
    var gate = LookupGate<Int>(places: 4)
    #expect(gate.enter("a", 1, now: 0) == .lead)
    #expect(gate.enter("a", 2, now: 0) == .wait)
    #expect(gate.enter("a", 3, now: 0) == .wait)
    let next = gate.ended("a", resolved: true, now: 1, freshness: 0)
    #expect(next.map(\.waiter) == [2])
    #expect(next.first?.leads == "a")
  }
}
