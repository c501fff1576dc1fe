// The main job on an embedded local server: a large body with a live bar, a cancelled one, the events of
// a small exchange, a large file and failing ones.
import Penstock
import PenstockTesting

do {
  try await Demo.run()
} catch {
  print("the demo failed: \(error)")
}
