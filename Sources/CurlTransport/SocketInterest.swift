/// What one descriptor is polled for.
///
/// An HTTP/2 upload whose window is exhausted wants to write while the socket is writable and nothing can be
/// written: the loop would spin. After a few writable events without progress the descriptor isn't asked for
/// writability until it is readable or 10 ms have passed.
struct SocketInterest: Equatable {
  static let patience = 4
  static let pause: UInt64 = 10_000_000

  private(set) var readable = false
  private(set) var writable = false
  private(set) var maskedUntil: UInt64?
  private var fruitless = 0

  enum Action: Equatable {
    case none
    case maskWritable
  }

  var isMasked: Bool { maskedUntil != nil }
  var pollsReadable: Bool { readable }
  var pollsWritable: Bool { writable && maskedUntil == nil }

  /// libcurl says what it waits for. A masked descriptor stays masked while that is the same.
  mutating func wants(readable: Bool, writable: Bool) {
    self.readable = readable
    self.writable = writable
    if !writable || !readable { unmask() }
  }

  /// The descriptor was ready and libcurl has been told; `progressed` says whether it moved any byte.
  mutating func wasReady(readable wasReadable: Bool, progressed: Bool, now: UInt64) -> Action {
    // A descriptor that is only waited on for writing is connecting, or sends HTTP/1: it can't spin.
    guard writable, readable, !wasReadable, !progressed else {
      fruitless = 0
      return .none
    }
    fruitless += 1
    guard fruitless >= Self.patience, maskedUntil == nil else { return .none }
    fruitless = 0
    maskedUntil = now &+ Self.pause
    return .maskWritable
  }

  mutating func unmask() {
    maskedUntil = nil
    fruitless = 0
  }
}
