@testable import CurlTransport
import Testing

struct SocketInterestTests {
  private func spinning() -> SocketInterest {
    var interest = SocketInterest()
    interest.wants(readable: true, writable: true)
    for _ in 1..<SocketInterest.patience {
      #expect(interest.wasReady(readable: false, progressed: false, now: 5) == .none)
    }
    return interest
  }

  @Test func `it polls for what libcurl wants`() {
    var interest = SocketInterest()
    #expect(!interest.pollsReadable && !interest.pollsWritable)
    interest.wants(readable: true, writable: false)
    #expect(interest.pollsReadable && !interest.pollsWritable)
    interest.wants(readable: false, writable: true)
    #expect(!interest.pollsReadable && interest.pollsWritable)
  }

  @Test func `writable without progress a few times is masked for a while`() {
    var interest = spinning()
    #expect(interest.pollsWritable)
    #expect(interest.wasReady(readable: false, progressed: false, now: 5) == .maskWritable)
    #expect(interest.maskedUntil == 5 + SocketInterest.pause)
    #expect(!interest.pollsWritable && interest.pollsReadable)
    interest.unmask()
    #expect(interest.pollsWritable)
  }

  @Test func `progress or bytes to read start the count anew`() {
    for (readable, progressed) in [(true, false), (false, true)] {
      var interest = spinning()
      #expect(interest.wasReady(readable: readable, progressed: progressed, now: 5) == .none)
      for _ in 1..<SocketInterest.patience {
        #expect(interest.wasReady(readable: false, progressed: false, now: 5) == .none)
      }
      #expect(interest.wasReady(readable: false, progressed: false, now: 5) == .maskWritable)
    }
  }

  @Test func `it stays masked while libcurl wants the same, and no longer`() {
    var interest = spinning()
    _ = interest.wasReady(readable: false, progressed: false, now: 5)
    interest.wants(readable: true, writable: true)
    #expect(interest.isMasked)
    interest.wants(readable: true, writable: false)
    #expect(!interest.isMasked)
  }

  @Test func `a masked descriptor isn't masked again`() {
    var interest = spinning()
    _ = interest.wasReady(readable: false, progressed: false, now: 5)
    for now in 6..<60 as Range<UInt64> {
      #expect(interest.wasReady(readable: false, progressed: false, now: now) == .none)
    }
    #expect(interest.maskedUntil == 5 + SocketInterest.pause)
  }

  @Test func `a connecting or sending HTTP/1 socket is never masked`() {
    var interest = SocketInterest()
    interest.wants(readable: false, writable: true)
    for _ in 0..<100 { #expect(interest.wasReady(readable: false, progressed: false, now: 5) == .none) }
  }
}
