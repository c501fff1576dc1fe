/// Waits for what nothing signals, ten seconds at most: whether it came to hold.
package func eventually(_ isMet: () async throws -> Bool) async rethrows -> Bool {
  for _ in 0..<2000 {
    if try await isMet() { return true }
    try? await Task.sleep(for: .milliseconds(5))
  }
  return false
}
