import PollLoop

extension CurlLoop {
  /// `assumeIsolated` at a tenth of its price: the loop's own thread is the proof, so the runtime needn't
  /// search for one.
  ///
  /// What the closure needs comes as `context`: one that captured would be allocated on each call.
  nonisolated func onThread<Context, Value: Sendable>(
    _ context: Context, _ body: @escaping (isolated CurlLoop, Context) -> Value
  ) -> Value {
    executor.checkIsolated()
    // Safe: isolation to an actor is a promise about the caller and not part of how a closure is called.
    return unsafe unsafeBitCast(body, to: ((CurlLoop, Context) -> Value).self)(self, context)
  }
}

extension CurlLoop: LoopDriver {
  nonisolated func nextDeadline() -> UInt64? {
    onThread(()) { loop, _ in
      if !loop.turn.flushList.isEmpty { return 0 }
      var next = loop.timers.earliest
      if let deadline = loop.multi?.deadline { next = min(next ?? deadline, deadline) }
      if let unmask = loop.nextUnmask { next = min(next ?? unmask, unmask) }
      return next
    }
  }

  nonisolated func turn(now: UInt64, events: UnsafeBufferPointer<PollEvent>) {
    unsafe onThread((now, events)) { unsafe $0.takeTurn(now: $1.0, events: $1.1) }
  }

  nonisolated func afterMessages(now: UInt64) { onThread(now) { $0.finishMessages(now: $1) } }

  nonisolated var isIdle: Bool {
    onThread(()) { loop, _ in
      loop.waiting == 0 && loop.running.count == loop.abandoned
    }
  }

  nonisolated func tearDown() { onThread(()) { loop, _ in loop.cleanUp() } }
}
