/// Turns lines into what a terminal must be sent to show them in the place of the last ones. Between two frames
/// the cursor is at the beginning of the last line, so that an echoed ^C does no harm.
struct ProgressPainter: Sendable {
  /// Columns of each line that is on the screen.
  private var shown: [Int] = []

  // A terminal that has just become narrower may not have told it yet: lines that were made for the old width
  // must not break then, or nobody would know where they begin.
  private static let noWrap = "\u{1B}[?7l"
  private static let wrap = "\u{1B}[?7h"

  /// Lines that stay, then the lines that will be drawn over by the next frame.
  mutating func frame(messages: [String], lines: [String], width: Int) -> String {
    if messages.isEmpty, lines.isEmpty, shown.isEmpty { return "" }
    var text = "\r"
    let up = rowsAboveCursor(width: width)
    if up > 0 { text += "\u{1B}[\(up)A" }
    if !messages.isEmpty {
      text += "\u{1B}[J"
      for message in messages { text += message + "\n" }
    }
    if lines.isEmpty { text += "\u{1B}[J" } else { text += Self.noWrap + drawn(lines) + Self.wrap }
    shown = lines.map(TextColumns.count)
    return text
  }

  /// Each line is written over the old one and its rest erased: erasing first would flicker.
  private func drawn(_ lines: [String]) -> String { lines.joined(separator: "\u{1B}[K\n") + "\u{1B}[J\r" }

  /// Nothing is known of the screen any more: the next frame begins where the cursor is.
  mutating func forget() { shown = [] }

  /// A terminal that became narrower has broken the longer lines, all but the last above the cursor.
  private func rowsAboveCursor(width: Int) -> Int {
    let width = max(1, width)
    return shown.dropLast().reduce(0) { $0 + max(1, ($1 + width - 1) / width) }
  }
}
