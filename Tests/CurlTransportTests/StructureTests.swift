import Foundation
import Testing

/// The rules of the source tree, read from the tree itself.
struct StructureTests {
  private struct Source: Sendable {
    let path: String
    let lines: [Substring]
    var imports: Set<String> {
      Set(
        lines.compactMap { line in
          let words = line.split(separator: " ")
          guard let at = words.firstIndex(of: "import"), at < 3, words.count > at + 1, !line.hasPrefix("//")
          else { return nil }
          return String(words[words.count - 1])
        })
    }
  }

  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func sources(_ folder: String = "") -> [Source] { files("Sources/" + folder) }

  private static func files(_ folder: String) -> [Source] {
    let start = root.appending(path: folder).resolvingSymlinksInPath()
    guard let all = FileManager.default.enumerator(at: start, includingPropertiesForKeys: nil) else {
      return []
    }
    return all.compactMap { $0 as? URL }.filter { file in
      file.pathExtension == "swift" && !file.pathComponents.contains(".build")
    }.compactMap { file in
      guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
      let path = file.path.components(separatedBy: "/Sources/").last ?? file.path
      return Source(path: path, lines: text.split(separator: "\n", omittingEmptySubsequences: false))
    }
  }

  @Test func `the tree is found`() {
    #expect(Self.sources().count > 50)
  }

  @Test func `libcurl is imported under Handles alone`() {
    for source in Self.sources() where source.imports.contains("CCurl") {
      #expect(source.path.hasPrefix("CurlTransport/Handles/"), "\(source.path)")
    }
  }

  @Test(arguments: ["CBrotli", "CZstd", "CSQLite"]) func `one file imports`(_ module: String) {
    #expect(Self.sources().filter { $0.imports.contains(module) }.count <= 1)
  }

  @Test func `libcrypto is imported under Crypto and by the digests' context alone`() {
    for source in Self.sources() where source.imports.contains("CCrypto") {
      #expect(
        source.path.hasPrefix("Penstock/Crypto/") || source.path == "Penstock/Digest/DigestContext.swift",
        "\(source.path)")
    }
  }

  @Test func `few files import zlib`() {
    #expect(Self.sources().filter { $0.imports.contains("CZlib") }.count <= 3)
  }

  @Test(arguments: ["try!", "fatalError(", "preconditionFailure(", " as! "]) func `no source holds`(
    _ word: String
  ) {
    for source in Self.sources() {
      for (index, line) in source.lines.enumerated()
      where line.contains(word) && !line.drop(while: { $0 == " " }).hasPrefix("//") {
        Issue.record("\(source.path):\(index + 1): \(word)")
      }
    }
  }

  @Test(arguments: ["Sources", "Tests", "Examples/Sources", "Benchmarks/Sources"])
  func `no file has more than 400 lines`(_ folder: String) {
    for source in Self.files(folder) { #expect(source.lines.count <= 401, "\(source.path)") }
  }

  @Test func `no file is named for being of use`() {
    for source in Self.sources() {
      for word in ["Util", "Helper", "Manager"] { #expect(!source.path.contains(word), "\(source.path)") }
    }
  }

  @Test func `what is public has a comment, and no type of C`() {
    for source in Self.sources() where !source.path.hasPrefix("PenstockCLI/") {
      for (index, line) in source.lines.enumerated() {
        let words = line.split(separator: " ").drop { $0.hasPrefix("@") }
        guard words.first == "public", let next = words.dropFirst().first, next != "import",
          next != "extension"
        else { continue }
        let above = source.lines[..<index].last { !$0.drop { $0 == " " }.hasPrefix("@") } ?? ""
        #expect(above.drop { $0 == " " }.hasPrefix("///"), "\(source.path):\(index + 1)")
        for type in ["OpaquePointer", "UnsafeMutableRawPointer", "CURL"] {
          #expect(!words.contains { $0.contains(type) }, "\(source.path):\(index + 1)")
        }
      }
    }
  }

  @Test func `what is unchecked says why it is safe`() {
    for source in Self.sources() {
      for (index, line) in source.lines.enumerated()
      where line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)") {
        let near = source.lines[max(0, index - 2)...min(source.lines.count - 1, index + 3)]
        #expect(near.contains { $0.contains("//") }, "\(source.path):\(index + 1)")
      }
    }
  }

  @Test func `the arrows point one way`() {
    let ours: Set<String> = [
      "StreamCore", "PollLoop", "CurlTransport", "Penstock", "PenstockTesting", "PenstockCLI", "CCurl",
      "CZlib",
      "CCrypto", "CLinux", "CSQLite", "PenstockBatchState",
    ]
    let allowed: [String: Set<String>] = [
      "StreamCore": [], "PollLoop": ["CLinux"], "CurlTransport": ["StreamCore", "PollLoop", "CCurl"],
      "Penstock": ["StreamCore", "CurlTransport", "CZlib", "CCrypto", "CLinux"],
      "PenstockTesting": ["StreamCore"], "PenstockBatchState": ["Penstock", "CSQLite"],
      "PenstockCLI": ["Penstock", "StreamCore", "PenstockBatchState"],
    ]
    for (target, targets) in allowed {
      for source in Self.sources(target) {
        #expect(source.imports.intersection(ours).isSubset(of: targets), "\(source.path)")
      }
    }
    for source in Self.files("Tests/TestSupport") {
      #expect(source.imports.isDisjoint(with: ours), "\(source.path)")
    }
    // The stand-in for a lock in builds for a sanitizer is no part of what users get.
    for source in Self.sources("StreamCore") where !source.path.hasSuffix("+ThreadSanitizer.swift") {
      #expect(
        source.imports.isDisjoint(with: ["Foundation", "Glibc", "FoundationEssentials"]), "\(source.path)")
    }
    for target in ["PollLoop", "CurlTransport", "Penstock"] {
      for source in Self.sources(target) {
        #expect(source.imports.isDisjoint(with: ["FoundationNetworking"]), "\(source.path)")
        // Foundation's essentials are enough; all of it is for systems without them.
        #expect(
          !source.imports.contains("Foundation") || source.lines.contains { $0.hasPrefix("#if canImport(") },
          "\(source.path)")
      }
    }
  }
}
