import BenchOptions
import Foundation
import URLSessionRoots

@main
struct UrlsessionBench {
  nonisolated static func main() async {
    guard let options = Options(CommandLine.arguments), let url = URL(string: options.url) else {
      print("usage: urlsession-bench large|small|sequential URL [--count K] [--requests N]")
      print("                        [--parallel P] [--cacert FILE]")
      exit(2)
    }
    // The copy is never freed: each new handle reads it.
    if let cacert = options.cacert { urlsession_trust(strdup(cacert)) }
    let modes = Modes(url: url)
    do {
      switch options.mode {
      case "large":
        try await modes.large(count: options.count)
      case "small":
        try await modes.fetches(
          mode: "small", requests: options.requests, parallel: options.parallel, warmUp: 4 * options.parallel)
      case "sequential":
        try await modes.fetches(mode: "sequential", requests: options.requests, parallel: 1, warmUp: 100)
      default:
        print("urlsession-bench: no mode \(options.mode)")
        exit(2)
      }
    } catch {
      FileHandle.standardError.write(Data("urlsession-bench: \(error)\n".utf8))
      exit(1)
    }
  }
}
