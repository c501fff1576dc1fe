import TestSupport
import Testing

@testable import Penstock

@Suite struct BatchPartsTests {
  @Test func `a queue gives what it got in order, and what is put back first`() {
    var queue = BatchQueue<Int>()
    #expect(queue.popFirst() == nil)
    for number in 0..<200 { queue.append(number) }
    for number in 0..<150 { #expect(queue.popFirst() == number) }
    queue.prepend(149)
    #expect(queue.count == 51)
    #expect(queue.first == 149)
    #expect(queue.takeAll() == Array(149..<200))
    queue.prepend(7)
    #expect(queue.popFirst() == 7)
    #expect(queue.isEmpty)
  }

  @Test(arguments: 0..<10) func `timers come in the order of their times`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let begin = MonotonicInstant.now
    var timers = BatchTimers()
    let times = (0..<100).map { _ in Int.random(in: 0..<1000, using: &random) }
    for (ticket, time) in times.enumerated() {
      timers.insert(.ticket(ticket), at: begin + .milliseconds(time))
    }
    #expect(timers.earliest == begin + .milliseconds(times.min() ?? 0))
    #expect(timers.popDue(begin - .seconds(1)) == nil)
    var popped: [Int] = []
    while case .ticket(let ticket)? = timers.popDue(begin + .seconds(1)) { popped.append(times[ticket]) }
    #expect(popped == times.sorted())
  }

  @Test func `results come as they are ready, or in the order of the inputs`() {
    var loose = BatchResults<String>(keepsInputOrder: false)
    loose.add("b", at: 1)
    loose.add("a", at: 0)
    #expect(loose.take(upTo: 10) == ["b", "a"])
    var strict = BatchResults<String>(keepsInputOrder: true)
    strict.add("c", at: 2)
    strict.add("b", at: 1)
    #expect(strict.readyCount == 0 && strict.count == 2)
    #expect(strict.take(upTo: 10) == [])
    strict.add("a", at: 0)
    #expect(strict.take(upTo: 2) == ["a", "b"])
    #expect(strict.take(upTo: 2) == ["c"])
  }

  @Test func `the host of a URL is told without its user and case`() {
    #expect(BatchHostName.of("http://Host.Example:8080/a?b") == "http:host.example:8080")
    #expect(BatchHostName.of("HTTP://user:p@ss@h/") == "http:h")
    #expect(BatchHostName.of("https://h") == "https:h")
    #expect(BatchHostName.of("https://h?x=/y@z") == "https:h")
    #expect(BatchHostName.of("https://[::1]:5/") == "https:[::1]:5")
    #expect(BatchHostName.of("no url") == "")
    #expect(BatchHostName.of("") == "")
    #expect(BatchHostName.of("http:") == "")
  }

  @Test func `quantiles are exact to a few percent`() throws {
    var histogram = LatencyHistogram()
    #expect(histogram.quantile(0.5) == nil)
    for number in 1...10_000 { histogram.record(.microseconds(number * 100)) }
    for (share, milliseconds) in [(0.5, 500.0), (0.9, 900), (0.99, 990), (1.0, 1000)] {
      let value = try #require(histogram.quantile(share)) / .milliseconds(1)
      #expect(abs(value - milliseconds) / milliseconds < 0.02, "\(share): \(value)")
    }
    #expect(histogram.minimum == .microseconds(100))
    #expect(histogram.maximum == .seconds(1))
    #expect(histogram.count == 10_000)
    histogram.record(.seconds(1 << 41))
    histogram.record(.seconds(-1))
    #expect(histogram.count == 10_002)
    #expect(histogram.quantile(0) == .zero)
  }

  @Test func `buckets of a histogram follow each other without gaps`() {
    var last = LatencyHistogram.bounds(0)
    for bucket in 1..<2400 {
      let bounds = LatencyHistogram.bounds(bucket)
      #expect(bounds.lowerBound == last.upperBound)
      #expect(LatencyHistogram.bucket(bounds.lowerBound) == bucket)
      #expect(LatencyHistogram.bucket(bounds.upperBound - 1) == bucket)
      last = bounds
    }
  }

  @Test func `what is remembered for joining has bounds`() {
    var memory = BatchOptions.JoinMemory()
    memory.count = 3
    memory.bytes = .bytes(100)
    typealias Cell = BatchCell<Int, Int>
    var joining = BatchJoining(memory)
    func known(_ key: String) -> Int? {
      if case .known(let item) = joining.look(key) { Cell.of(item).value } else { nil }
    }
    func item(_ value: Int, bytes: Int64) -> Cell {
      let cell = Cell(0)
      cell.value = value
      cell.bytes = bytes
      return cell
    }
    let leader = item(0, bytes: 10)
    joining.lead("a", leader)
    guard case .follow(let found) = joining.look("a"), found === leader else { return #expect(Bool(false)) }
    for (number, key) in ["a", "b", "c", "d"].enumerated() {
      joining.ended(key, item(number, bytes: 10))
    }
    #expect(known("a") == nil && known("b") == 1 && known("d") == 3)
    joining.ended("e", item(9, bytes: 95))
    #expect(known("e") == 9 && known("d") == nil && joining.knownCount == 1)
    joining.ended("f", item(9, bytes: 101))
    #expect(known("f") == nil && known("e") == 9)
    joining.ended("e", nil)
    #expect(known("e") == 9)
  }

  @Test func `requests are the same in method, URL, fields and content`() {
    typealias Joining = BatchJoining
    #expect(Joining.key(.get("http://h/")) == Joining.key(.get("http://h/")))
    #expect(Joining.key(.get("http://h/")) != Joining.key(.head("http://h/")))
    #expect(
      Joining.key(.post("http://h/", body: .string("x")))
        != Joining.key(.post("http://h/", body: .string("y"))))
    var chosen = Request.get("http://h/")
    chosen.timeouts = TimeLimits()
    #expect(Joining.key(chosen) == nil)
    let stream = AsyncStream<[UInt8]> { $0.finish() }
    #expect(Joining.key(.post("http://h/", body: .stream(stream))) == nil)
  }
}
