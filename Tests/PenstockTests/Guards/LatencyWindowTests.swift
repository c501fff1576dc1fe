import Testing

@testable import Penstock

@Suite struct LatencyWindowTests {
  @Test func `the percentile of the last latencies`() {
    var window = LatencyWindow(percentile: 0.9)
    #expect(window.latency == nil)
    window.add(.milliseconds(7))
    #expect(window.latency == .milliseconds(7))
    for number in 1...LatencyWindow.size * 2 { window.add(.milliseconds(number)) }
    #expect(window.count == LatencyWindow.size)
    // Of 129...256 ms, nine tenths are below 244.
    #expect(window.latency == .milliseconds(244))
  }

  @Test(arguments: [Double.nan, -1, 2, .infinity])
  func `odd percentiles do no harm`(percentile: Double) {
    var window = LatencyWindow(percentile: percentile)
    for number in 1...20 { window.add(.milliseconds(number)) }
    #expect(window.latency != nil)
  }
}
