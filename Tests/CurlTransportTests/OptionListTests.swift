import Foundation
import Testing

/// docs/options.md against libcurl's header and our shim.
struct OptionListTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static let header = [
    "/usr/include/x86_64-linux-gnu", "/usr/include/aarch64-linux-gnu", "/usr/include",
  ]
  .map { $0 + "/curl/curl.h" }.first { FileManager.default.fileExists(atPath: $0) }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Option and state, a row each.
  private static func rows() throws -> [(name: String, state: String, text: String)] {
    try text("docs/options.md").split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 3, cells[0].hasPrefix("`") else { return nil }
      return (cells[0].trimmingCharacters(in: ["`"]), cells[1], cells[2])
    }
  }

  @Test func `every option is listed once, with a state and a word about it`() throws {
    let rows = try Self.rows()
    #expect(Set(rows.map(\.name)).count == rows.count)
    for row in rows {
      #expect(["modelled", "refused", "not yet"].contains(row.state), "\(row.name)")
      #expect(!row.text.isEmpty, "\(row.name)")
    }
  }

  @Test(.enabled(if: header != nil, "needs libcurl's header"))
  func `the list has every option of the header`() throws {
    let lines = try String(contentsOfFile: Self.header ?? "", encoding: .utf8).split(separator: "\n")
    let names = lines.compactMap { line -> String? in
      let line = line.drop { $0 == " " }
      for start in ["CURLOPT(CURLOPT_", "CURLOPTDEPRECATED(CURLOPT_"] where line.hasPrefix(start) {
        return String(line.dropFirst(start.count).prefix { $0 != "," && $0 != " " })
      }
      return nil
    }
    #expect(names.count > 250)
    let listed = Set(try Self.rows().map(\.name))
    // Newer libcurls have some more, which the list doesn't claim.
    let version = try String(
      contentsOfFile: (Self.header ?? "").replacing("curl.h", with: "curlver.h"), encoding: .utf8)
    guard version.contains("LIBCURL_VERSION_NUM 0x0758") else { return }
    for name in names where !listed.contains(name) { Issue.record("\(name) isn't listed") }
  }

  @Test func `what the shim wraps is listed as modelled, and nothing else is`() throws {
    let shim = try Self.text("CShims/curl/easy_setopt.h")
    var wrapped: Set<String> = []
    for part in shim.components(separatedBy: "curl_easy_setopt(easy, CURLOPT_").dropFirst() {
      wrapped.insert(String(part.prefix { $0 != "," }))
    }
    #expect(wrapped.count > 80)
    let modelled = Set(try Self.rows().filter { $0.state == "modelled" }.map(\.name))
    #expect(wrapped.subtracting(modelled).isEmpty, "not listed: \(wrapped.subtracting(modelled).sorted())")
    #expect(modelled.subtracting(wrapped).isEmpty, "not wrapped: \(modelled.subtracting(wrapped).sorted())")
  }
}
