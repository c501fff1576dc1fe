/// Names one scheduled timer. Once the timer has fired or was cancelled its token is stale, and using it
/// does nothing.
package struct TimerToken: Hashable, Sendable {
  let slot: UInt32
  let generation: UInt32
}
