import Glibc
import StreamCore

/// How a stream's watermark is split between the stream and what libcurl has in hand.
///
/// libcurl receives a whole buffer of a plain body at once and hands it out in pieces of 16 KiB. Paused between
/// two of them it copies all that is left aside and offers it again later, which costs more than the pause saves.
/// So a plain stream asks to hold early enough that the rest of one receive still fits below the high mark, and
/// takes that rest. TLS hands out 16 KiB at once: there the pause is immediate. What HTTP/2 has on its way then
/// libcurl keeps aside: a stream that turns out to be one of it holds earlier (`highOnHTTP2`).
struct ReceiveRoom {
  /// What libcurl receives at once: the size of its buffer. It decides the speed of large transfers, and untouched
  /// pages of it cost nothing (decision 8).
  let receive: Int
  /// What the stream holds at.
  let watermark: Watermark
  /// What may come after that.
  let overshoot: Int
  /// What a stream on HTTP/2 holds at. No more than a quarter is given up for what libcurl keeps.
  let highOnHTTP2: Int

  init(_ watermark: Watermark, isSecure: Bool, largestReceive: Int = Self.bestReceive) {
    // Two receives are to fit below the high mark.
    receive = max(min(largestReceive, watermark.high / 2), Self.leastReceive)
    overshoot = isSecure || watermark.high < 2 * receive ? 0 : receive
    highOnHTTP2 = watermark.high - min(2 * receive, watermark.high / 4)
    self.watermark = Watermark(low: watermark.low, high: watermark.high - overshoot)
  }

  private static let leastReceive = 128 << 10
  private static let bestReceive = bestReceive(cache: sysconf(Int32(_SC_LEVEL2_CACHE_SIZE)))

  /// A quarter of a core's second-level cache of that many bytes (0: unknown): what is received is copied from there
  /// into slabs, and both are to fit.
  static func bestReceive(cache: Int) -> Int { min(max(cache / 4, leastReceive), 512 << 10) }
}
