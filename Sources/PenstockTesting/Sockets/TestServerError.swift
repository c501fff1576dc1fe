/// What can go wrong in a test server, or in a wait for what it saw.
public enum TestServerError: Error, Sendable, Hashable {
  /// A system call failed; `code` is its `errno`.
  case systemCall(String, code: Int32)
  /// An argument was out of range; the text names it.
  case invalidArgument(String)
  /// Nothing happened within the time limit of a wait; the text says what was waited for.
  case timedOut(waitingFor: String)
  /// The task that waited was cancelled.
  case cancelled
  /// The server was stopped.
  case stopped
  /// The peer closed the connection; `reset` tells a reset (RST) from an orderly end (FIN).
  case peerClosed(reset: Bool)
  /// This side has closed the connection already.
  case closedLocally
  /// The peer sent something that is not an HTTP/1.x request; the text says what is wrong.
  case malformedRequest(String)
}
