extension ScriptedConnection {
  /// Runs steps. A step behind the one that closed the connection throws `TestServerError.closedLocally`.
  public func run(_ steps: [Step]) throws {
    for step in steps { try run(step) }
  }

  private func run(_ step: Step) throws {
    switch step {
    case .expectRequest: try readRequest()
    case .expectHead: try readHead()
    case .expectBody: try readBody()
    case .expectBytes(let count): try read(exactly: count)
    case .readUntilClose: try readUntilClose()
    case .readSlowly(let size, let interval): try readSlowly(size: size, every: interval)
    case .send(let text): try send(text)
    case .sendBytes(let bytes): try send(bytes)
    case .sendContent(let count): try sendContent(count: count)
    case .sendForever(let pattern, let chunked): try sendForever(pattern, chunked: chunked)
    case .drip(let bytes, let size, let interval): try drip(bytes, size: size, every: interval)
    case .wait(let duration): try wait(duration)
    case .waitForSignal(let name): try waitForSignal(name)
    case .stall: try stall()
    case .reset: reset()
    case .halfClose: halfClose()
    case .close: close()
    case .closeAtOnce: closeAtOnce()
    case .repeatSteps(let times, let steps): try repeatSteps(steps, times: times)
    case .respondEach(let steps):
      while isOpen, try readRequestUnlessClosed() != nil { try run(steps) }
    case .run(let code): try code(self)
    }
  }

  /// Sends a pattern again and again until the peer closes; each time as one chunk if `chunked`.
  public func sendForever(_ pattern: [UInt8], chunked: Bool) throws(TestServerError) {
    guard !pattern.isEmpty else { throw .invalidArgument("pattern") }
    var unit = pattern
    if chunked {
      unit = Array("\(String(pattern.count, radix: 16))\r\n".utf8) + pattern + [13, 10]
    }
    // Small patterns go out many at a time.
    let block = Array(repeatElement(unit, count: max(1, (64 << 10) / unit.count)).joined())
    while true {
      do throws(TestServerError) {
        try send(block)
      } catch .peerClosed {
        return
      }
    }
  }

  /// Sends bytes in pieces of `size`, with a wait before each but the first.
  public func drip(_ bytes: [UInt8], size: Int, every interval: Duration) throws(TestServerError) {
    guard size > 0 else { throw .invalidArgument("size") }
    var start = 0
    while start < bytes.count {
      if start > 0 { try wait(interval) }
      let end = min(bytes.count, start + size)
      try send(Array(bytes[start..<end]))
      start = end
    }
  }

  private func repeatSteps(_ steps: [Step], times: Int?) throws {
    guard let times else {
      // A loop of steps that never block would spin past a close.
      while isOpen, !steps.isEmpty { try run(steps) }
      return
    }
    for _ in 0..<max(0, times) { try run(steps) }
  }
}
