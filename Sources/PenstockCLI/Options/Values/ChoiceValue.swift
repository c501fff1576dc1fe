/// One of a few words.
enum ChoiceValue {
  static func parse<Choice: RawRepresentable<String> & CaseIterable>(
    _ text: String
  ) throws(UsageError) -> Choice {
    if let choice = Choice(rawValue: text) { return choice }
    let words = Choice.allCases.map(\.rawValue)
    let list = words.dropLast().joined(separator: ", ") + (words.last.map { " and " + $0 } ?? "")
    throw UsageError("\(UsageError.quote(text)) is none of \(list)")
  }
}
