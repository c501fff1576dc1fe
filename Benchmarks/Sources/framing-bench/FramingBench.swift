import Glibc
import Penstock

/// How fast bodies are cut into values, from memory, on one core: framing-bench [MODE...] [--mib N] [--rounds N]
@main
struct FramingBench {
  static let usage = """
    usage: framing-bench [MODE]... [--mib N] [--rounds N]
    Prints MB/s of input (unpacked), the best of the rounds.
    MODE: \(Workload.all.map(\.name).joined(separator: " "))
    """

  /// Not asynchronous itself: valgrind can't bear how such a `main` waits.
  nonisolated static func main() {
    Task.detached {
      await run()
      exit(0)
    }
    while true { _ = pause() }
  }

  @concurrent private static func run() async {
    var modes: [String] = []
    var size = 64 << 20
    var rounds = 3
    var rest = CommandLine.arguments.dropFirst()
    while let argument = rest.popFirst() {
      switch argument {
      case "--mib": size = (rest.popFirst().flatMap { Int($0) } ?? 64) << 20
      case "--rounds": rounds = rest.popFirst().flatMap { Int($0) } ?? 3
      case "--help":
        print(usage)
        return
      default: modes.append(argument)
      }
    }
    if modes.isEmpty { modes = Workload.all.map(\.name) }
    for mode in modes {
      guard let workload = Workload.all.first(where: { $0.name == mode }) else {
        print(usage)
        return
      }
      await measure(workload, size, rounds)
    }
  }

  @concurrent private static func measure(_ workload: Workload, _ size: Int, _ rounds: Int) async {
    var best = 0.0
    var count = 0
    var bytes = 0
    do {
      let input = try await workload.input(size)
      bytes = input.size
      for _ in 0..<rounds {
        let body = ResponseBody(input.bytes)
        let begin = ContinuousClock.now
        count = try await workload.run(body)
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        best = max(best, Double(input.size) / seconds / 1e6)
      }
    } catch {
      print("\(workload.name): \(error)")
      return
    }
    print("\(workload.name) \(Int(best)) MB/s, \(count) elements of \(bytes) bytes")
  }
}
