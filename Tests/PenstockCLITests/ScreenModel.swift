/// A terminal's screen, as far as the progress display uses it. Anything else that is sent is noted as unknown.
struct ScreenModel {
  let columns: Int
  let height: Int
  private(set) var unknown: [String] = []
  /// All rows since the beginning; the last `height` of them are on the screen.
  private var rows: [[Unicode.Scalar]] = [[]]
  private var row = 0
  private var column = 0
  private var wraps = true

  init(columns: Int, height: Int) {
    self.columns = columns
    self.height = height
  }

  /// What stands there, without blanks at the ends and without empty rows at the end.
  var text: [String] {
    var lines = rows.map { row in
      var text = Substring(String(String.UnicodeScalarView(row)))
      while text.last == " " { text.removeLast() }
      return String(text)
    }
    while lines.last == "" { lines.removeLast() }
    return lines
  }

  mutating func feed(_ text: String) {
    var scalars = Substring(text).unicodeScalars
    while let scalar = scalars.popFirst() {
      switch scalar {
      case "\r": column = 0
      case "\n":
        column = 0
        down()
      case "\u{1B}": control(&scalars)
      case _ where scalar.value < 0x20: unknown.append("\(scalar.value)")
      default: put(scalar)
      }
    }
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    if column >= columns {
      guard wraps else {
        rows[row][columns - 1] = scalar
        return
      }
      column = 0
      down()
    }
    while rows[row].count <= column { rows[row].append(" ") }
    rows[row][column] = scalar
    column += 1
  }

  private mutating func down() {
    row += 1
    if row == rows.count { rows.append([]) }
  }

  private mutating func control(_ scalars: inout Substring.UnicodeScalarView) {
    var sequence = ""
    while let scalar = scalars.popFirst() {
      sequence.unicodeScalars.append(scalar)
      if scalar.properties.isAlphabetic { break }
    }
    switch sequence {
    case "[K": eraseToEnd(of: row)
    case "[J":
      eraseToEnd(of: row)
      rows.removeSubrange((row + 1)...)
    case "[?7l": wraps = false
    case "[?7h": wraps = true
    case _ where sequence.hasPrefix("[") && sequence.hasSuffix("A"):
      let count = Int(sequence.dropFirst().dropLast()) ?? 1
      row = max(max(0, rows.count - height), row - count)
    default: unknown.append(sequence)
    }
  }

  private mutating func eraseToEnd(of row: Int) {
    if rows[row].count > column { rows[row].removeSubrange(column...) }
  }
}
