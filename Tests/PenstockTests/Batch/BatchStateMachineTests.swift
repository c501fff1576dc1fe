import TestSupport
import Testing

@testable import Penstock

/// Random inputs, ends, repeats, drains and stops: whatever happens, every input that was read has one result.
@Suite struct BatchStateMachineTests {
  private typealias Machine = BatchStateMachine<Int, String>

  private let begin = ContinuousClock.now

  private func machine(
    _ limits: BatchLimits, order: BatchOrder = .completion, _ change: (inout BatchOptions) -> Void = { _ in }
  ) -> Machine {
    var options = BatchOptions()
    change(&options)
    return Machine(BatchSettings<String>(limits: limits, order: order, options: options), begin: begin)
  }

  private func request(_ number: Int) -> Request { .get("http://h\(number % 3)/\(number % 7)") }

  @Test(arguments: 0..<60) func `every input has exactly one result, whatever ends the batch`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let total = Int.random(in: 1...6, using: &random)
    let ordered = seed % 3 == 1
    var machine = machine(
      BatchLimits(total: total, perHost: Int.random(in: 1...3, using: &random)),
      order: ordered ? .input(window: Int.random(in: 1...9, using: &random)) : .completion
    ) {
      $0.joinsIdentical = seed % 2 == 0
      $0.failsFast = seed % 5 == 0
    }
    let inputs = 80
    var next = 0
    var now = begin
    var running: [Machine.Job] = []
    var isReading = false
    var results: [Int] = []
    var isOver = false
    for _ in 0..<100_000 where !isOver {
      now += .microseconds(Int.random(in: 0..<2000, using: &random))
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        switch machine.next(now: now) {
        case .perform(let job):
          running.append(job)
          #expect(running.count <= total)
        case .read:
          #expect(!isReading)
          isReading = true
        case .rest, .end:
          // Time that a repeat waits for.
          if running.isEmpty, !isReading { now += .milliseconds(50) }
        }
      case 4, 5:
        guard isReading else { continue }
        isReading = false
        if next == inputs { machine.sourceEnded(nil); continue }
        let made: Result<Request, HTTPError> =
          next % 11 == 10
          ? .failure(HTTPError(.invalidURL, phase: .queue, message: "bad")) : .success(request(next))
        machine.received(next, made, key: (try? made.get()).map { $0.url }, now: now)
        if machine.readCount == next + 1 { next += 1 }
      case 6, 7:
        guard !running.isEmpty else { continue }
        let job = running.remove(at: Int.random(in: 0..<running.count, using: &random))
        let failure = HTTPError(.receiveFailed, phase: .body, message: "lost")
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
          machine.finished(job, .again(after: .milliseconds(20), instead: failure, BatchFacts()), now: now)
        case 1: machine.finished(job, .ended(.failure(failure), BatchFacts()), now: now)
        default:
          machine.finished(
            job, .ended(.success(BatchProduct(value: job.request.url, bytes: 10)), BatchFacts()), now: now)
        }
      case 8:
        switch machine.take() {
        case .elements(let elements):
          for element in elements {
            #expect(element.index == element.input)
            if case .success(let url) = element.result { #expect(url == request(element.input).url) }
            results.append(element.index)
          }
        case .wait: break
        case .end: isOver = true
        }
      default:
        if seed % 4 == 3, Int.random(in: 0..<200, using: &random) == 0 {
          if seed % 8 == 3 { machine.drain(now: now) } else { machine.stop(now: now) }
        }
      }
    }
    #expect(isOver)
    #expect(running.isEmpty)
    #expect(results.count == machine.readCount)
    #expect(Set(results) == Set(0..<machine.readCount))
    if ordered { #expect(results == results.sorted()) }
    if seed % 4 != 3, seed % 5 != 0 { #expect(results.count == inputs) }
  }

  @Test func `a failure under fail-fast ends those that wait and cancels those that run`() {
    var machine = machine(BatchLimits(total: 1)) { $0.failsFast = true }
    guard case .read = machine.next(now: begin) else { return #expect(Bool(false)) }
    machine.received(0, .success(request(0)), key: nil, now: begin)
    guard case .perform(let job) = machine.next(now: begin) else { return #expect(Bool(false)) }
    machine.finished(
      job, .ended(.failure(HTTPError(.emptyReply, phase: .head, message: "")), BatchFacts()), now: begin)
    #expect(machine.cancelsRunning)
    guard case .end = machine.next(now: begin) else { return #expect(Bool(false)) }
    // An input that comes now was read by nobody.
    machine.received(1, .success(request(1)), key: nil, now: begin)
    #expect(machine.readCount == 1)
    guard case .elements(let elements) = machine.take() else { return #expect(Bool(false)) }
    #expect(elements.map(\.error?.kind) == [.emptyReply])
    guard case .end(nil) = machine.take() else { return #expect(Bool(false)) }
  }

  @Test func `an abandoned batch ends with what runs, and gives nothing more`() {
    var machine = machine(BatchLimits(total: 2))
    guard case .read = machine.next(now: begin) else { return #expect(Bool(false)) }
    machine.received(0, .success(request(0)), key: nil, now: begin)
    guard case .perform(let job) = machine.next(now: begin) else { return #expect(Bool(false)) }
    machine.abandon()
    #expect(machine.cancelsRunning && machine.hasEnded)
    machine.finished(job, .ended(.failure(.cancelled), BatchFacts()), now: begin)
    guard case .end = machine.next(now: begin), case .end(nil) = machine.take() else {
      return #expect(Bool(false))
    }
  }
}
