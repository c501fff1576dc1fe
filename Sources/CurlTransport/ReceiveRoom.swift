import StreamCore

/// How a stream's watermark is split between the stream and what libcurl has in hand.
///
/// libcurl receives up to 128 KiB of a plain body at once and hands it out in pieces of 16 KiB. Paused between
/// two of them it copies all that is left aside and offers it again later, which costs more than the pause saves.
/// So a plain stream asks to hold early enough that the rest of one receive still fits below the high mark, and
/// takes that rest. TLS hands out 16 KiB at once: there the pause is immediate. What HTTP/2 has on its way then
/// libcurl keeps aside, so such a stream holds earlier still.
struct ReceiveRoom {
  /// What the stream holds at.
  let watermark: Watermark
  /// What may come after that.
  let overshoot: Int

  init(_ watermark: Watermark, isSecure: Bool) {
    let receive = EasyHandle.receiveBuffer
    overshoot = isSecure || watermark.high < 2 * receive ? 0 : receive
    // No more than a quarter is given up for what libcurl keeps.
    let aside = isSecure ? min(2 * receive, watermark.high / 4) : overshoot
    self.watermark = Watermark(low: watermark.low, high: watermark.high - aside)
  }
}
