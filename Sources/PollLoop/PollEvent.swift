/// What one wait found out about one descriptor.
package struct PollEvent: Sendable, Equatable {
  package let fd: Int32
  /// Tells this registration from an earlier or later one of the same descriptor number.
  let generation: UInt32
  package let readable: Bool
  package let writable: Bool
  /// The descriptor has an error or was hung up.
  package let failed: Bool
}
