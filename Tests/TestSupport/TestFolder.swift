import Glibc

/// A folder of its own, which goes with the test.
package final class TestFolder: Sendable {
  package let path: String

  package init() throws {
    var template = Array("/tmp/penstock-test-\(String(repeating: "X", count: 6))".utf8CString)
    guard mkdtemp(&template) != nil else { throw TestFolderError() }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for name in names { unlink(path + "/" + name) }
    rmdir(path)
  }

  package func callAsFunction(_ name: String) -> String { path + "/" + name }

  /// What is in it, sorted.
  package var names: [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  package func write(_ text: String, to name: String) {
    let file = open(self(name), O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
    close(file)
  }

  /// Nil when there is no such file.
  package func read(_ name: String) -> [UInt8]? {
    let file = open(self(name), O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = Glibc.read(file, &block, block.count)
      if count <= 0 { return bytes }
      bytes += block[..<count]
    }
  }

  package func text(_ name: String) -> String? { read(name).map { String(decoding: $0, as: UTF8.self) } }
}

package struct TestFolderError: Error {}
