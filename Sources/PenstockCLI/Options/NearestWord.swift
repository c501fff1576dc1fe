/// Finds what a mistyped word may have meant.
enum NearestWord {
  /// The nearest candidate, or nil when none is near enough: a third of the letters may differ, at most two.
  static func nearest(to word: String, among candidates: [String]) -> String? {
    let typed = Array(word.unicodeScalars)
    guard typed.count >= 2, typed.count <= 40 else { return nil }
    var best: (word: String, distance: Int)?
    for candidate in candidates {
      let distance = distance(typed, Array(candidate.unicodeScalars))
      guard distance <= min(2, max(1, typed.count / 3)) else { continue }
      if best.map({ distance < $0.distance }) ?? true { best = (candidate, distance) }
    }
    return best?.word
  }

  /// How many letters must be inserted, removed, replaced or swapped with their neighbour.
  static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
    var older = [Int](repeating: 0, count: right.count + 1)
    var previous = Array(0...right.count)
    for row in 1...left.count {
      var current = [row]
      for column in 1...right.count {
        let same = left[row - 1] == right[column - 1]
        var cost = min(previous[column] + 1, current[column - 1] + 1, previous[column - 1] + (same ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          cost = min(cost, older[column - 2] + 1)
        }
        current.append(cost)
      }
      older = previous
      previous = current
    }
    return previous[right.count]
  }
}
