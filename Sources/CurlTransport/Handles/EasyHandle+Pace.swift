import CCurl
import StreamCore

extension EasyHandle {
  /// How fast bytes may go, how long `Expect` waits, and what follows the body. All are set for a request that has
  /// any of them, and for the next, so that nothing of it is left. (How fast they may come is the reader's matter.)
  func setPace(_ request: TransportRequest) {
    let shared = request.sharedOptions
    let hasPace =
      shared.value.bytesPerSecond != nil || request.body.trailers != nil
      || shared.value.expectLimit != .seconds(1)
    guard hasPace || isPaced else { return }
    let options = shared.value
    isPaced = hasPace
    unsafe cshims_set_max_send_speed(raw, curl_off_t(options.bytesPerSecond ?? 0))
    let wait = options.expectLimit.components
    let milliseconds = wait.seconds &* 1000 &+ wait.attoseconds / 1_000_000_000_000_000
    unsafe cshims_set_expect_100_timeout_ms(raw, Int(clamping: max(1, milliseconds)))
    // 7.88 keeps the count of trailer bytes from one sending to the next, and then reads beyond them: a handle sends
    // trailers once.
    if request.body.trailers != nil { isRecyclable = false }
    unsafe cshims_set_trailer_function(raw, request.body.trailers == nil ? nil : CurlCallbacks.trailers)
  }
}
