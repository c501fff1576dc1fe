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
  func `TLS is held at once, HTTP/2 so early that what libcurl keeps aside has room`(high: Int, held: Int) {
    let room = ReceiveRoom(Watermark(low: 0, high: high), isSecure: true)
    #expect(room.watermark.high == high)
    #expect(room.highOnHTTP2 == held)
    #expect(room.overshoot == 0)
  }

  @Test(arguments: [(1 << 20, 512), (600 << 10, 300), (256 << 10, 128), (5, 128)])
  func `two receives fit below the high mark, but for small ones`(high: Int, receive: Int) {
    let room = ReceiveRoom(
      Watermark(low: 0, high: high), isSecure: false, largestReceive: 512 << 10)
    #expect(room.receive == receive << 10)
  }

  @Test(arguments: [(0, 128), (-1, 128), (512, 128), (1024, 256), (2048, 512), (1 << 20, 512)])
  func `a receive takes a quarter of the second-level cache, within bounds`(cache: Int, receive: Int) {
    #expect(ReceiveRoom.bestReceive(cache: cache << 10) == receive << 10)
  }
}
