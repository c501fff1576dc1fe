/// One thing that a scripted connection does.
///
/// While a connection waits in any step, an end or a reset by the peer is noticed and recorded at once; it ends
/// the script, unless the script tolerates half-closed peers.
public enum Step: Sendable {
  /// Reads one whole request, head and body, and records it.
  case expectRequest
  /// Reads the head of a request and records it; its body stays unread.
  case expectHead
  /// Reads the body of the request whose head was read by `expectHead`.
  case expectBody
  /// Reads this many bytes, whatever they mean.
  case expectBytes(Int)
  /// Reads and drops everything until the peer closes.
  case readUntilClose
  /// Reads and drops at most `size` bytes every so often, until the peer closes.
  case readSlowly(size: Int, every: Duration)
  /// Sends text as UTF-8. Nothing is added: line ends are written as `\r\n`.
  case send(String)
  /// Sends bytes.
  case sendBytes([UInt8])
  /// Sends `count` bytes of `TestContent` from offset 0, as fast as the peer takes them, without holding them.
  case sendContent(count: Int64)
  /// Sends a pattern again and again until the peer closes; each time as one chunk if `chunked`.
  case sendForever([UInt8], chunked: Bool)
  /// Sends bytes in pieces of `size`, with a wait before each but the first.
  case drip([UInt8], size: Int, every: Duration)
  /// Waits.
  case wait(Duration)
  /// Waits until the test calls `signal(_:)` or `open(_:)` with this name; an earlier signal counts.
  case waitForSignal(String)
  /// Does nothing until the peer closes or the server stops.
  case stall
  /// Closes with a reset (RST). Unsent bytes are lost.
  case reset
  /// Ends the sending side (FIN); reading goes on.
  case halfClose
  /// Ends the sending side, lets the peer finish for up to a second, and closes. Scripts end like this.
  case close
  /// Closes at once; the kernel answers with a reset if there are unread bytes.
  case closeAtOnce
  /// Runs steps several times; nil for ever.
  case repeatSteps(times: Int?, [Step])
  /// For each request on this connection: reads it, then runs the steps. Goes on behind it when the peer
  /// closes between two requests.
  case respondEach([Step])
  /// Runs blocking code.
  case run(@Sendable (ScriptedConnection) throws -> Void)
}
