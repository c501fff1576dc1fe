import StreamCore
import Testing

@testable import CurlTransport

@Suite struct ReceiveRoomTests {
  @Test func `a plain stream holds early enough for the rest of one receive`() {
    let room = ReceiveRoom(.standard, isSecure: false)
    #expect(room.watermark.high + room.overshoot == Watermark.standard.high)
    #expect(room.watermark.low == Watermark.standard.low)
    #expect(room.watermark.low < room.watermark.high)
  }

  @Test func `small plain streams are held at once, at their mark`() {
    let room = ReceiveRoom(Watermark(low: 0, high: 5), isSecure: false)
    #expect(room.watermark == Watermark(low: 0, high: 5))
    #expect(room.overshoot == 0)
  }

  @Test(arguments: [(1 << 20, 768 << 10), (64 << 10, 48 << 10), (3, 3)])
  func `TLS is held at once, so early that what libcurl keeps aside has room`(high: Int, held: Int) {
    let room = ReceiveRoom(Watermark(low: 0, high: high), isSecure: true)
    #expect(room.watermark.high == held)
    #expect(room.overshoot == 0)
  }
}
