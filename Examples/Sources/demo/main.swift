// The main job on an embedded local server: a large body with a live bar, a cancelled one, and the events of
// a small exchange.
import Penstock
import PenstockTesting

do {
  try await Demo.run()
} catch {
  print("the demo failed: \(error)")
}
