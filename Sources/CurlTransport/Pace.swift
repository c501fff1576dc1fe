import StreamCore

extension TransportOptions {
  /// The limits of time; where a rate is kept, the pauses that it makes don't count as the peer's.
  var pacedTimeouts: TimeLimits {
    guard let rate = bytesPerSecond, rate > 0, let idle = timeouts.idle else { return timeouts }
    var limits = timeouts
    // At most one buffer is sent too early, of 16 KiB.
    limits.idle = idle + .milliseconds(Int64(16 << 10) * 1000 / rate + 1000)
    return limits
  }

  /// The part of a send buffer that may be filled at once.
  func paced(_ buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
    guard let rate = bytesPerSecond, rate > 0 else { return unsafe buffer }
    let most = max(512, Int(clamping: rate / 8))
    guard most < buffer.count else { return unsafe buffer }
    return unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<most])
  }
}
