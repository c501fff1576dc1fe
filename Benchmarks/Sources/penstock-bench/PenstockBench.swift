import BenchOptions
import Glibc
import Penstock

@main
struct PenstockBench {
  /// Not asynchronous itself: valgrind can't bear how such a `main` waits.
  nonisolated static func main() {
    Task.detached {
      await run()
      exit(0)
    }
    while true { _ = pause() }
  }

  @concurrent private static func run() async {
    guard let options = Options(CommandLine.arguments) else {
      print("usage: penstock-bench MODE URL")
      print("modes: large values small sequential stages batch hosts events idle stopped-reader upload")
      print("       download")
      print("         [--count K] [--requests N] [--parallel P] [--on-loop] [--streams N] [--bytes N]")
      print("         [--hold SECONDS] [--http1.1|--http2] [--cacert FILE] [--to FILE] [--slow URL]")
      print("         [--segments N] [--loops N] [--sha256] [--streamed|--collected|--typed] [--guarded]")
      print("         [--bearer|--field]")
      print("         [--as drain|byte-lines|lines|json-lines|elements|events|gunzip|gunzip-lines|pipeline]")
      exit(2)
    }
    do {
      switch options.mode {
      case "large": try await Large(options: options).run()
      case "values": try await Values(options: options).run()
      case "small": try await Fetches(options: options, parallel: options.parallel).run()
      case "batch": try await BatchFetches(options: options).run()
      case "hosts": try await ManyHosts(options: options).run()
      case "events": try await EventStreams(options: options).run()
      case "sequential": try await Fetches(options: options, parallel: 1).run()
      case "stages": try await Stages(options: options).run()
      case "idle": try await Idle(options: options).run()
      case "stopped-reader": try await StoppedReader(options: options).run()
      case "download": try await FileDownload(options: options).run()
      case "upload": try await Upload(options: options).run()
      default:
        print("penstock-bench: no mode \(options.mode)")
        exit(2)
      }
    } catch {
      let text = Array("penstock-bench: \(error)\n".utf8)
      _ = write(STDERR_FILENO, text, text.count)
      exit(1)
    }
  }
}

struct UnexpectedAnswer: Error {
  let what: String
}

extension Response {
  /// This response, if its status is 200.
  func checked() throws -> Response {
    guard status == 200 else { throw UnexpectedAnswer(what: "status \(status)") }
    return self
  }
}
