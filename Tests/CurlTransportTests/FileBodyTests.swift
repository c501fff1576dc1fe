import Foundation
import Testing

@testable import CurlTransport
import StreamCore

@Suite struct FileBodyTests {
  private let path = NSTemporaryDirectory() + "FileBody.\(UUID().uuidString)"

  private func opened(_ text: String) throws -> any BodySource {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    let body = try FileBody.opened(path)
    guard case .stream(let make) = body.content else { throw HTTPError.cancelled }
    return make()
  }

  @Test func `what is appended while it is sent isn't sent`() async throws {
    let source = try opened("hello")
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data("more".utf8))
    #expect(try await source.next().map { Array($0) } == Array("hello".utf8))
    #expect(try await source.next() == nil)
    try FileManager.default.removeItem(atPath: path)
  }

  @Test func `a file that was cut while it is sent can't be read`() async throws {
    let source = try opened("hello")
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.truncate(atOffset: 3)
    #expect(try await source.next()?.count == 3)
    let error = await #expect(throws: HTTPError.self) { try await source.next() }
    #expect(error?.kind == .readFailed)
    #expect(error?.message == "the file \"\(path)\" ended at byte 3 of 5: it was cut while it was sent")
    try FileManager.default.removeItem(atPath: path)
  }

  @Test func `an empty file is an empty body`() async throws {
    #expect(try await opened("").next() == nil)
    try FileManager.default.removeItem(atPath: path)
  }
}
