import PollLoop

extension CurlLoop {
  /// `assumeIsolated` at a tenth of its price: the loop's own thread is the proof, so the runtime needn't
  /// search for one.
  nonisolated func onThread<Value: Sendable>(_ body: (isolated CurlLoop) -> Value) -> Value {
    guard executor.isOnLoopThread else { return assumeIsolated(body) }
    // Safe: isolation to an actor is a promise about the caller and not part of how a closure is called.
    return withoutActuallyEscaping(body) { body in
      unsafe unsafeBitCast(body, to: ((CurlLoop) -> Value).self)(self)
    }
  }
}

extension CurlLoop: LoopDriver {
  nonisolated func nextDeadline() -> UInt64? {
    onThread { loop in
      var next = loop.timers.earliest
      if let deadline = loop.multi?.deadline { next = min(next ?? deadline, deadline) }
      if let unmask = loop.nextUnmask { next = min(next ?? unmask, unmask) }
      return next
    }
  }

  nonisolated func turn(now: UInt64, events: UnsafeBufferPointer<PollEvent>) {
    // Safe: the buffer is read on this very thread, before this call returns.
    nonisolated(unsafe) let events = unsafe events
    onThread { unsafe $0.takeTurn(now: now, events: events) }
  }

  nonisolated func afterMessages(now: UInt64) { onThread { $0.finishMessages(now: now) } }

  nonisolated var isIdle: Bool {
    onThread { loop in
      loop.waiting == 0 && loop.running.count == loop.abandoned
    }
  }

  nonisolated func tearDown() { onThread { $0.cleanUp() } }
}
