import Foundation

/// Programs of the system that tests run.
enum Tool {
  /// The path of a program, nil when it isn't installed.
  static func path(_ name: String) -> String? {
    let search = (ProcessInfo.processInfo.environment["PATH"] ?? "") + ":/usr/sbin:/usr/bin:/sbin:/bin"
    return search.split(separator: ":").map { $0 + "/" + name }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  static let hasNginx = path("nginx") != nil && hasOpenSSL
  static let hasNghttpd = path("nghttpd") != nil && hasOpenSSL
  static let hasPython = path("python3") != nil && hasOpenSSL
  static let hasOpenSSL = path("openssl") != nil

  /// Whether memory is the process's own: a sanitizer keeps what was freed.
  static let showsMemory = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] == nil

  static let compiler = path("cc") ?? path("clang")

  struct Failed: Error {
    let what: String
  }

  /// The folder `Tests` of this package.
  static let tests = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// A program that this package builds, beside the running tests.
  static func built(_ name: String) -> String {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent(name).path
  }
}
