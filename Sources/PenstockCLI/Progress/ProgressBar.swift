/// Lines that show how far transfers have come, their facts in columns.
enum ProgressBar {
  /// What one line tells.
  struct Row: Sendable, Equatable {
    var name: String
    /// Stands in the place of a name that doesn't fit; nil: the name is cut.
    var shortName: String?
    var received: Int64 = 0
    var total: Int64?
    var rate: Double?
    var eta: Double?
    /// Stands in the place of the rate, such as "stalled".
    var remark: String?
  }

  private enum Fact: CaseIterable {
    case percent, size, rate, eta

    /// So wide even when there is less to say, so that columns stay where they are.
    var usualWidth: Int {
      switch self {
      case .percent: 4
      case .size: 7
      case .rate: 10
      case .eta: 8
      }
    }
  }

  /// A bar isn't worth less than this, and shows no more by being longer.
  private static let barWidths = 12...40
  /// A name cut to less tells nothing.
  private static let shortName = 8
  /// So much of a name is worth more than a bar.
  private static let longName = 20

  /// One line without a line feed for each row, never wider than `width` columns. What doesn't fit is left out,
  /// the least important first: bar, time left, size, rate, name.
  static func render(_ rows: [Row], width: Int) -> [String] {
    guard width > 0 else { return rows.map { _ in "" } }
    let rows = rows.map(printable)
    let longest = rows.map { TextColumns.count($0.name) }.max() ?? 0
    let shows: [[Fact]] = [
      [.percent, .size, .rate, .eta], [.percent, .size, .rate], [.percent, .rate], [.percent],
    ]
    for facts in shows {
      let columns = facts.map { fact in column(fact, of: rows) }.filter { !$0.isEmpty }
      let tail = columns.reduce(0) { $0 + TextColumns.count($1[0]) + 2 }
      let room = width - tail
      guard !columns.isEmpty, room >= min(longest, shortName) else { continue }
      return compose(rows, columns, room: room, longest: longest)
    }
    return rows.map { row in TextColumns.cut(text(.percent, of: row) ?? sizeText(row), to: width) }
  }

  private static func compose(_ rows: [Row], _ columns: [[String]], room: Int, longest: Int) -> [String] {
    let hasBar = rows.contains { knownTotal($0) != nil }
    let bar = hasBar ? barWidth(room: room, longest: longest) : 0
    let nameRoom = bar > 0 ? room - bar - 2 : room
    let nameWidth = min(longest, nameRoom)
    return rows.indices.map { index in
      var name = rows[index].name
      if let short = rows[index].shortName, TextColumns.count(name) > nameWidth { name = short }
      var parts = [TextColumns.padded(TextColumns.cut(name, to: nameWidth), to: nameWidth)]
      if bar > 0 { parts.append(self.bar(width: bar, of: rows[index])) }
      parts += columns.map { $0[index] }
      let line = parts.filter { !$0.isEmpty }.joined(separator: "  ")
      return TextColumns.trimmed(line)
    }
  }

  /// What names leave of the room; where they are long, a short bar as long as a good part of them stays.
  private static func barWidth(room: Int, longest: Int) -> Int {
    let left = room - longest - 2
    if left >= barWidths.lowerBound { return min(barWidths.upperBound, left) }
    return room - 2 - barWidths.lowerBound >= longName ? barWidths.lowerBound : 0
  }

  /// A column's texts, all of one width; empty when no row has anything to say there.
  private static func column(_ fact: Fact, of rows: [Row]) -> [String] {
    let texts = rows.map { text(fact, of: $0) ?? "" }
    let widest = texts.map(TextColumns.count).max() ?? 0
    if widest == 0 { return [] }
    return texts.map { TextColumns.padded($0, to: max(widest, fact.usualWidth), left: true) }
  }

  private static func text(_ fact: Fact, of row: Row) -> String? {
    switch fact {
    case .percent: knownTotal(row).map { "\(ProgressFormat.percent(row.received, of: $0))%" }
    case .size: sizeText(row)
    case .rate: row.remark ?? row.rate.map(ProgressFormat.rate)
    case .eta: row.eta.map { "ETA " + ProgressFormat.time($0) }
    }
  }

  private static func sizeText(_ row: Row) -> String {
    ProgressFormat.bytes(row.received) + (knownTotal(row).map { " of " + ProgressFormat.bytes($0) } ?? "")
  }

  /// A total that has been passed was none.
  private static func knownTotal(_ row: Row) -> Int64? {
    row.total.flatMap { $0 >= row.received ? $0 : nil }
  }

  private static func printable(_ row: Row) -> Row {
    var row = row
    row.name = TextColumns.printable(row.name)
    return row
  }

  private static func bar(width: Int, of row: Row) -> String {
    guard let total = knownTotal(row) else { return String(repeating: " ", count: width) }
    let cells = width - 2
    let share = total > 0 ? min(1, max(0, Double(row.received) / Double(total))) : 1
    let full = Int(Double(cells) * share)
    let tip = full < cells ? ">" : ""
    return "[" + String(repeating: "=", count: full) + tip
      + String(repeating: " ", count: max(0, cells - full - tip.count)) + "]"
  }
}
