/// The line that shows how far a transfer has come.
enum ProgressBar {
  /// One line without a line feed, never wider than `width` columns. What doesn't fit is left out, the least
  /// important first: bar, time left, rate, name.
  static func render(
    width: Int, received: Int64, total: Int64?, rate: Double?, eta: Double?, name: String
  ) -> String {
    guard width > 0 else { return "" }
    let name = TextColumns.printable(name)
    let total = total.flatMap { $0 >= received ? $0 : nil }
    let percent = total.map { "\(ProgressFormat.percent(received, of: $0))%" }
    let size =
      ProgressFormat.bytes(received) + (total.map { " of " + ProgressFormat.bytes($0) } ?? "")
    let speed = rate.map(ProgressFormat.rate)
    let left = eta.map { "ETA " + ProgressFormat.time($0) }
    let core = percent ?? ProgressFormat.bytes(received)

    for facts in [
      [percent, size, speed, left], [percent, size, speed], [percent, size], [percent, speed],
    ] {
      let tail = facts.compactMap { $0 }.joined(separator: "  ")
      let columns = TextColumns.count(tail)
      if tail.isEmpty || columns > width { continue }
      return compose(
        width: width, name: name, tail: tail, tailColumns: columns, received: received, total: total)
    }
    return TextColumns.cut(core, to: width)
  }

  /// Name, bar and facts, as room allows.
  private static func compose(
    width: Int, name: String, tail: String, tailColumns: Int, received: Int64, total: Int64?
  ) -> String {
    let room = width - tailColumns - 2
    let wanted = TextColumns.count(name)
    // A name cut to a few letters tells nothing.
    guard room >= min(wanted, 8) else { return tail }
    guard let total, room >= 16 else {
      let shown = TextColumns.cut(name, to: room)
      return shown.isEmpty ? tail : shown + "  " + tail
    }
    // A bar of at most 40 columns; a name never takes more than what a bar of 12 leaves.
    let nameRoom = min(wanted, max(0, room - 14))
    let shown = nameRoom >= min(wanted, 8) ? TextColumns.cut(name, to: nameRoom) : ""
    let head = shown.isEmpty ? "" : shown + "  "
    let cells = min(40, room - TextColumns.count(head)) - 2
    return head + bar(cells: cells, received: received, total: total) + "  " + tail
  }

  private static func bar(cells: Int, received: Int64, total: Int64) -> String {
    let share = total > 0 ? min(1, max(0, Double(received) / Double(total))) : 1
    let full = Int(Double(cells) * share)
    let tip = full < cells ? ">" : ""
    return "[" + String(repeating: "=", count: full) + tip
      + String(repeating: " ", count: max(0, cells - full - tip.count)) + "]"
  }
}
