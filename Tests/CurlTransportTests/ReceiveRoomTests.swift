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

  @Test func `TLS and small watermarks are held at once`() {
    for (watermark, isSecure) in [(Watermark.standard, true), (Watermark(low: 0, high: 5), false)] {
      let room = ReceiveRoom(watermark, isSecure: isSecure)
      #expect(room.watermark == watermark)
      #expect(room.overshoot == 0)
    }
  }
}
