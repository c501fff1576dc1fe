import Penstock
import Testing

@testable import PenstockCLI

@Suite struct BatchDisplayTests {
  @Test func `numbers and seconds of a result line`() {
    func text(_ fill: (inout [UInt8]) -> Void) -> String {
      var bytes: [UInt8] = []
      fill(&bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    for number in [0, 7, 10, -12, Int.max, Int.min] {
      #expect(text { BatchLines.integer(number, &$0) } == "\(number)")
    }
    for time in [
      Duration.zero, .seconds(1), .milliseconds(1500), .microseconds(1), .microseconds(10),
      .microseconds(123_456),
      .microseconds(3_000_400), .nanoseconds(5),
    ] { #expect(text { BatchLines.seconds(time, &$0) } == JSONText.seconds(time)) }
    #expect(text { BatchLines.seconds(.seconds(-1), &$0) } == "0")
  }

  @Test func `the bar tells counts, rates and the time left, and never more than fits`() {
    var bar = BatchBar()
    var standing = BatchBar.Standing()
    bar.update(standing, at: .zero)
    #expect(bar.line(standing, at: .zero, width: 80) == "0 done  0 failed  0 in flight")
    standing = .init(ok: 90, failed: 10, skipped: 5, running: 8, bytes: 1 << 20, share: 0.25)
    bar.update(standing, at: .seconds(10))
    let line = bar.line(standing, at: .seconds(10), width: 200)
    #expect(line == "100 done  10 failed  8 in flight  10.0/s  102 KiB/s  25%  ETA 0:30  5 skipped")
    for width in 0..<80 {
      #expect(TextColumns.count(bar.line(standing, at: .seconds(10), width: width)) <= max(width, 2))
    }
    standing.share = nil
    #expect(bar.eta(standing, at: .seconds(10)) == nil)
    standing.share = 0
    #expect(bar.eta(standing, at: .seconds(10)) == nil)
  }

  @Test func `the timeline keeps its size and loses no count`() {
    var timeline = BatchTimeline()
    for second in 0..<2000 { timeline.add(at: Double(second) / 2, failed: second % 10 == 0, bytes: 3) }
    #expect(timeline.slots.count <= BatchTimeline.most)
    #expect(timeline.slots.reduce(0) { $0 + $1.ok } == 1800)
    #expect(timeline.slots.reduce(0) { $0 + $1.failed } == 200)
    #expect(timeline.slots.reduce(0) { $0 + $1.bytes } == 6000)
    #expect(timeline.width * Double(timeline.slots.count) >= 999)
  }

  @Test func `a page with hostile URLs is still a page`() {
    #expect(BatchReportPage.escape("<script>\"'&\u{1B}") == "&lt;script&gt;&quot;&#39;&amp;?")
    let page = BatchReportPage(
      tally: BatchTally(), report: BatchReport(), skipped: 0, duration: .zero, wasInterrupted: true)
    #expect(page.text.contains("interrupted"))
    #expect(!page.text.contains("http:") && !page.text.contains("https:"), "it needs nothing from anywhere")
  }

  @Test func `phases are the time between the marks`() {
    var timings = ExchangeFacts.Timings()
    timings.queued = .milliseconds(10)
    timings.connect = .milliseconds(30)
    timings.firstByte = .milliseconds(50)
    timings.total = .milliseconds(60)
    let parts = BatchCharts.parts(timings).map { Int(($0 * 1000).rounded()) }
    #expect(parts == [10, 0, 20, 0, 20, 10])
  }
}
