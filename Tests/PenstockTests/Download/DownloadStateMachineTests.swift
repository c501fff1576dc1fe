import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct DownloadStateMachineTests {
  private static let start = DownloadStart(url: "http://h/", file: "f", total: 10)
  private static let file = DownloadedFile(
    path: "f", bytes: 10, duration: .zero, digest: nil, url: "http://h/",
    head: ResponseHead(status: 200, reason: "", version: .http1_1, headers: HTTPFields()),
    isEndVerified: true)

  private static func progress(_ received: Int64) -> TransferProgress {
    TransferProgress(received: received, total: 10)
  }

  /// All that an observer sees from its place on.
  private static func drain(
    _ machine: DownloadStateMachine, _ position: inout DownloadStateMachine.Position
  ) -> [String] {
    var names: [String] = []
    while true {
      switch machine.look(&position) {
      case .wait: return names
      case .ended: return names + ["end"]
      case .event(.started): names.append("started")
      case .event(.progress(let progress)): names.append("\(progress.received)")
      case .event(.restarted(let reason)): names.append(reason.rawValue)
      case .event(.retry(let retry)): names.append("try \(retry.attempt)")
      case .event(.finished): names.append("finished")
      case .event(.failed): names.append("failed")
      }
    }
  }

  @Test func `a slow observer sees the latest progress alone`() {
    var machine = DownloadStateMachine()
    var early = DownloadStateMachine.Position()
    machine.start(Self.start)
    machine.report(Self.progress(1))
    #expect(Self.drain(machine, &early) == ["started", "1"])
    machine.report(Self.progress(4))
    machine.report(Self.progress(7))
    #expect(Self.drain(machine, &early) == ["7"])
    machine.report(Self.progress(10))
    machine.finish(.success(Self.file))
    #expect(Self.drain(machine, &early) == ["10", "finished", "end"])
    var late = DownloadStateMachine.Position()
    #expect(Self.drain(machine, &late) == ["started", "10", "finished", "end"])
  }

  private static func retry(_ attempt: Int) -> DownloadEvent {
    .retry(DownloadRetry(attempt: attempt, delay: .zero, reason: .cancelled, url: ""))
  }

  @Test func `tries and restarts are seen by everybody, before the progress that follows them`() {
    var machine = DownloadStateMachine()
    machine.note(.restarted(.changed))
    var position = DownloadStateMachine.Position()
    #expect(Self.drain(machine, &position).isEmpty, "not before the start")
    machine.note(Self.retry(9))
    #expect(Self.drain(machine, &position) == ["try 9"], "a try at once")
    machine.start(Self.start)
    machine.report(Self.progress(3))
    machine.note(Self.retry(2))
    machine.note(.restarted(.rangeIgnored))
    machine.report(Self.progress(1))
    #expect(Self.drain(machine, &position) == ["started", "changed", "try 2", "range_ignored", "1"])
    machine.finish(.success(Self.file))
    #expect(Self.drain(machine, &position) == ["finished", "end"])
  }

  @Test func `endless tries are held in bounds, and the start and the end stay`() {
    var machine = DownloadStateMachine()
    machine.start(Self.start)
    var steady = DownloadStateMachine.Position()
    var seen: [String] = []
    for attempt in 2...1000 {
      machine.note(Self.retry(attempt))
      if attempt % 10 == 0 { seen += Self.drain(machine, &steady) }
    }
    machine.report(Self.progress(10))
    machine.finish(.success(Self.file))
    seen += Self.drain(machine, &steady)
    #expect(seen.first == "started" && seen.suffix(3) == ["10", "finished", "end"])
    #expect(seen.count == 1 + 999 + 3)
    var late = DownloadStateMachine.Position()
    let names = Self.drain(machine, &late)
    #expect(names.first == "started" && names.suffix(3) == ["10", "finished", "end"])
    #expect(names.count <= DownloadStateMachine.kept + 4)
  }

  @Test func `the start isn't lost behind many tries before it`() {
    var machine = DownloadStateMachine()
    for attempt in 2...400 { machine.note(Self.retry(attempt)) }
    machine.start(Self.start)
    for attempt in 401...900 { machine.note(Self.retry(attempt)) }
    var late = DownloadStateMachine.Position()
    let names = Self.drain(machine, &late)
    #expect(names.first == "started" && names.last == "try 900")
    machine.note(Self.retry(901))
    machine.report(Self.progress(2))
    #expect(Self.drain(machine, &late) == ["try 901", "2"])
  }

  @Test func `a failure before the start has no progress`() {
    var machine = DownloadStateMachine()
    machine.finish(.failure(.cancelled))
    var position = DownloadStateMachine.Position()
    #expect(Self.drain(machine, &position) == ["failed", "end"])
  }

  @Test func `the end is the end`() {
    var machine = DownloadStateMachine()
    machine.start(Self.start)
    machine.finish(.failure(.cancelled))
    machine.finish(.success(Self.file))
    machine.report(Self.progress(3))
    machine.start(Self.start)
    var position = DownloadStateMachine.Position()
    #expect(Self.drain(machine, &position) == ["started", "failed", "end"])
    #expect(machine.progress.received == 0)
  }

  @Test func `the last cancelled one who waits takes the download along`() {
    var machine = DownloadStateMachine()
    machine.enter()
    machine.enter()
    #expect(machine.leave(isCancelled: true) == .goOn)
    #expect(machine.leave(isCancelled: true) == .cancelDownload)
    machine.enter()
    #expect(machine.leave(isCancelled: false) == .goOn)
    machine.enter()
    machine.finish(.success(Self.file))
    #expect(machine.leave(isCancelled: true) == .goOn)
  }

  @Test func `whatever happens when, each observer sees started, rising progress, one end`() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<2000 {
      var machine = DownloadStateMachine()
      var positions = (0..<3).map { _ in DownloadStateMachine.Position() }
      var seen: [[String]] = [[], [], []]
      var received: Int64 = 0
      let fails = Bool.random(using: &generator)
      for _ in 0..<Int.random(in: 0..<30, using: &generator) {
        let who = Int.random(in: 0..<3, using: &generator)
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: machine.start(Self.start)
        case 1..<5:
          received += 1
          machine.report(Self.progress(received))
        case 5:
          machine.finish(fails ? .failure(.cancelled) : .success(Self.file))
        default: seen[who] += Self.drain(machine, &positions[who])
        }
      }
      machine.finish(.failure(.cancelled))
      for who in 0..<3 {
        var names = seen[who] + Self.drain(machine, &positions[who])
        while names.count > 1, names.last == "end", names[names.count - 2] == "end" { names.removeLast() }
        #expect(names.popLast() == "end")
        let end = names.popLast()
        #expect(end == "failed" || end == "finished")
        if names.isEmpty { continue }
        #expect(names.removeFirst() == "started")
        let numbers = names.compactMap { Int64($0) }
        #expect(numbers.count == names.count)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
        if let last = numbers.last { #expect(last == machine.progress.received) }
      }
    }
  }
}
