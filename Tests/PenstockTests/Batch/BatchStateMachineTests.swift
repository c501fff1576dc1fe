import TestSupport
import Testing

@testable import Penstock

/// Random inputs, ends, repeats, drains and stops: whatever happens, every input that was read has one result.
@Suite struct BatchStateMachineTests {
  private typealias Machine = BatchStateMachine
  private typealias Cell = BatchCell<Int, String>

  private let begin = MonotonicInstant.now

  private func machine(
    _ limits: BatchLimits, order: BatchOrder = .completion, _ change: (inout BatchOptions) -> Void = { _ in }
  ) -> Machine {
    var options = BatchOptions()
    change(&options)
    return Machine(BatchSettings(limits: limits, order: order, options: options), begin: begin)
  }

  private func request(_ number: Int) -> Request { .get("http://h\(number % 3)/\(number % 7)") }

  private func item(_ number: Int) -> BatchItem {
    let item = Cell(number)
    item.request = request(number)
    return item
  }

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
    var running: [BatchItem] = []
    var isReading = false
    var results: [Int] = []
    var isOver = false
    for _ in 0..<100_000 where !isOver {
      now += .microseconds(Int.random(in: 0..<2000, using: &random))
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        switch machine.next(now: now) {
        case .perform(let item):
          running.append(item)
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
        let item = item(next)
        item.key = item.request?.url
        if next % 11 == 10 {
          item.request = nil
          item.fail(HTTPError(.invalidURL, phase: .queue, message: "bad"))
        }
        machine.received(item, now: now)
        if machine.readCount == next + 1 { next += 1 }
      case 6, 7:
        guard !running.isEmpty else { continue }
        let item = running.remove(at: Int.random(in: 0..<running.count, using: &random))
        let failure = HTTPError(.receiveFailed, phase: .body, message: "lost")
        switch Int.random(in: 0..<8, using: &random) {
        case 0:
          machine.finished(item, .again(after: .milliseconds(20), instead: failure, BatchFacts()), now: now)
        case 1:
          item.fail(failure)
          machine.finished(item, .ended(BatchFacts()), now: now)
        default:
          Cell.of(item).value = item.request?.url
          item.bytes = 10
          machine.finished(item, .ended(BatchFacts()), now: now)
        }
      case 8:
        switch machine.take() {
        case .elements(let elements):
          for element in elements.map({ Cell.of($0).result }) {
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
    machine.received(item(0), now: begin)
    guard case .perform(let item) = machine.next(now: begin) else { return #expect(Bool(false)) }
    item.fail(HTTPError(.emptyReply, phase: .head, message: ""))
    machine.finished(item, .ended(BatchFacts()), now: begin)
    #expect(machine.cancelsRunning)
    guard case .end = machine.next(now: begin) else { return #expect(Bool(false)) }
    // An input that comes now was read by nobody.
    machine.received(self.item(1), now: begin)
    #expect(machine.readCount == 1)
    guard case .elements(let elements) = machine.take() else { return #expect(Bool(false)) }
    #expect(elements.map(\.failure?.kind) == [.emptyReply])
    guard case .end(nil) = machine.take() else { return #expect(Bool(false)) }
  }

  @Test func `an abandoned batch ends with what runs, and gives nothing more`() {
    var machine = machine(BatchLimits(total: 2))
    guard case .read = machine.next(now: begin) else { return #expect(Bool(false)) }
    machine.received(item(0), now: begin)
    guard case .perform(let item) = machine.next(now: begin) else { return #expect(Bool(false)) }
    machine.abandon()
    #expect(machine.cancelsRunning && machine.hasEnded)
    item.fail(.cancelled)
    machine.finished(item, .ended(BatchFacts()), now: begin)
    guard case .end = machine.next(now: begin), case .end(nil) = machine.take() else {
      return #expect(Bool(false))
    }
  }
}
