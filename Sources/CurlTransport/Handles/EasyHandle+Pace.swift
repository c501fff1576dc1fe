import CCurl
import StreamCore

extension EasyHandle {
  private static let smallestBuffer = 1 << 10

  /// How fast bytes may come and go, how long `Expect` waits, and what follows the body. All are set for a request
  /// that has any of them, and for the next, so that nothing of it is left.
  func setPace(_ request: TransportRequest) {
    let shared = request.sharedOptions
    let hasPace =
      shared.value.bytesPerSecond != nil || request.body.trailers != nil
      || shared.value.expectLimit != .seconds(1)
    guard hasPace || isPaced else { return }
    let options = shared.value
    isPaced = hasPace
    let rate = options.bytesPerSecond ?? 0
    unsafe cshims_set_max_recv_speed(raw, curl_off_t(rate))
    unsafe cshims_set_max_send_speed(raw, curl_off_t(rate))
    // libcurl fills its buffer and then waits for as long as that was too fast: a small one makes it even.
    let buffer =
      rate > 0
      ? max(Self.smallestBuffer, Int(clamping: min(Int64(Self.receiveBuffer), rate / 8))) : Self.receiveBuffer
    unsafe cshims_set_buffer_size(raw, buffer)
    let wait = options.expectLimit.components
    let milliseconds = wait.seconds &* 1000 &+ wait.attoseconds / 1_000_000_000_000_000
    unsafe cshims_set_expect_100_timeout_ms(raw, Int(clamping: max(1, milliseconds)))
    // 7.88 keeps the count of trailer bytes from one sending to the next, and then reads beyond them: a handle sends
    // trailers once.
    if request.body.trailers != nil { isRecyclable = false }
    unsafe cshims_set_trailer_function(raw, request.body.trailers == nil ? nil : CurlCallbacks.trailers)
  }
}
