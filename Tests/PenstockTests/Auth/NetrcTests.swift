import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct NetrcTests {
  private static let text = """
    # a comment machine no.example login x password y
    machine One.example login ann password "p w\\"\\\\ # 1"
    macdef init
    machine fake.example login f password f

    machine two.example
      login bob account acc
      password secret#1
    machine two.example login eve password evil
    machine [::1] login six password v6
    machine three.example login onlyuser
    default login anonymous password guest
    """

  @Test func `entries are found by host, user and default`() {
    let file = NetrcFile(parsing: Self.text)
    #expect(file.entries.count == 6)
    #expect(file.entry(for: "ONE.example")?.password == "p w\"\\ # 1")
    #expect(file.entry(for: "two.example")?.login == "bob")
    #expect(file.entry(for: "two.example")?.password == "secret#1")
    #expect(file.entry(for: "two.example", login: "eve")?.password == "evil")
    #expect(file.entry(for: "::1")?.login == "six")
    #expect(file.entry(for: "[::1]")?.login == "six")
    #expect(file.entry(for: "three.example")?.password == "")
    #expect(file.entry(for: "other.example")?.login == "anonymous")
    #expect(file.entry(for: "other.example", allowsDefault: false) == nil)
    #expect(file.entry(for: "fake.example", allowsDefault: false) == nil)
    #expect(file.entry(for: "no.example", allowsDefault: false) == nil)
  }

  @Test func `no cut of a file traps`() {
    let bytes = Array(Self.text.utf8)
    for end in 0...bytes.count {
      #expect(NetrcFile(parsing: String(decoding: bytes[..<end], as: UTF8.self)).entries.count <= 7)
    }
  }

  @Test func `a named file must be there`() throws {
    let folder = try TestFolder()
    folder.write("machine a login b password c", to: "netrc")
    #expect(try NetrcFile(path: folder("netrc")).entries.count == 1)
    for path in [folder("missing"), folder.path] {
      let error = #expect(throws: HTTPError.self) { _ = try NetrcFile(path: path) }
      #expect(error?.kind == .readFailed)
    }
  }

  @Test func `nothing of it is printed`() {
    let file = NetrcFile(parsing: Self.text)
    var dumped = "\(file) \(file.entries)"
    dump(file, to: &dumped)
    dump(file.entries, to: &dumped)
    for secret in ["p w", "secret#1", "guest", "bob"] { #expect(!dumped.contains(secret)) }
  }
}
