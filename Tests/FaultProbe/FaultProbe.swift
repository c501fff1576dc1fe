/// Scenarios that need a process of their own: what they leave behind, how the process ends, a resolver that
/// hangs. `fault-probe SCENARIO …` prints what it saw, one word and a number a line.
@main enum FaultProbe {
  static func main() async throws {
    let arguments = CommandLine.arguments
    switch arguments.count > 1 ? arguments[1] : "" {
    case "requests": try await Leftovers.afterRequests(Int(arguments[2]) ?? 0)
    case "cancelled": try await Leftovers.afterCancellation(Int(arguments[2]) ?? 0)
    case "lookups": try await Lookups.run()
    case "exit": try await Endings.exitWithActiveTransfers()
    case "drop-on-loop": try await Endings.dropOnLoop()
    case "tls-reset": try await Endings.resetUnderTLS(url: arguments[2], root: arguments[3])
    case "get": try await Network.get(arguments[2])
    case "key-log": try await Network.keyLog(arguments[2], root: arguments[3], path: arguments[4])
    case "descriptors":
      try await Descriptors.run(
        port: arguments[2], limit: Int(arguments[3]) ?? 0, requests: Int(arguments[4]) ?? 0,
        hosts: Int(arguments[5]) ?? 1)
    case "storm":
      try await Storm.run(
        seed: UInt64(arguments[2]) ?? 0, rounds: Int(arguments[3]) ?? 1, urls: Array(arguments.dropFirst(4)))
    case "few-streams":
      try await Descriptors.fewStreams(
        url: arguments[2], root: arguments[3], limit: Int(arguments[4]) ?? 0, requests: Int(arguments[5]) ?? 0
      )
    case "both-ways":
      try await Memory.bothWays(url: arguments[2], root: arguments[3], mebibytes: Int(arguments[4]) ?? 0)
    case "one-task": try await Memory.manyRequestsOfOneTask()
    case "slow-reader": try await Memory.slowReader()
    case "streams": try await StreamMemory.run(mebibytes: Int(arguments[2]) ?? 1)
    case "pipeline": try await StreamMemory.pipeline(mebibytes: Int(arguments[2]) ?? 1)
    case let other: print("unknown \(other)")
    }
  }
}
