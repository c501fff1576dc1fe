import FoundationEssentials

/// One JSON text whose values are being asked for. Not shared: one decoding reads it.
///
/// What it gives is what Foundation's decoder gives. Where that isn't certain, it says so in `isUnsure`, and what was
/// read isn't used (decision 43).
final class JSONDocument {
  let tape: JSONTape
  let dates: JSONCoding.Dates
  /// Whether Foundation may see something else in what was read: its result counts then.
  var isUnsure = false
  /// Names of large objects, by the object's entry.
  private var names: [Int: [String: Int]] = [:]
  /// Members up to which names are compared one by one.
  private static let few = 24

  init(_ tape: JSONTape, dates: JSONCoding.Dates) {
    self.tape = tape
    self.dates = dates
  }

  @inline(__always)
  func entry(_ place: Int) -> JSONTape.Entry { tape.entries[place] }

  // MARK: objects

  /// The place of a member's value; the first of equal names counts.
  func value(named name: String, in object: Int) -> Int? {
    if tape.entries[object].end > Self.few { return table(object)[name] }
    if let place = tape.value(named: name, in: object) { return place }
    // Escapes, and letters that are equal in other bytes.
    guard tape.entries[object].isSpecial || !Self.isASCII(name) else { return nil }
    return table(object)[name]
  }

  /// The names of an object as they stand there, each once.
  func names(in object: Int) -> [String] {
    var seen: Set<String> = []
    return members(of: object).compactMap { key, _ in
      text(key).flatMap { seen.insert($0).inserted ? $0 : nil }
    }
  }

  private func table(_ object: Int) -> [String: Int] {
    if let known = names[object] { return known }
    var table: [String: Int] = [:]
    for (key, value) in members(of: object) {
      if let name = text(key), table[name] == nil { table[name] = value }
    }
    names[object] = table
    return table
  }

  private func members(of object: Int) -> [(key: Int, value: Int)] {
    var members: [(key: Int, value: Int)] = []
    members.reserveCapacity(Int(tape.entries[object].end))
    var place = object + 1
    let end = Int(tape.entries[object].next)
    while place < end {
      members.append((place, place + 1))
      place = Int(tape.entries[place + 1].next)
    }
    return members
  }

  private static func isASCII(_ name: String) -> Bool { name.utf8.allSatisfy { $0 < 0x80 } }

  /// The text of a string; nil, and unsure, for what is no text.
  func text(_ place: Int) -> String? {
    if let text = tape.string(tape.entries[place]) { return text }
    isUnsure = true
    return nil
  }

  // MARK: the way to a value, for errors

  /// The keys from the outermost container to a value.
  func path(to place: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var container = 0
    while container != place {
      let kind = tape.entries[container].kind
      guard kind == .array || kind == .object else { break }
      var child = container + 1
      var number = 0
      let isObject = kind == .object
      while child < Int(tape.entries[container].next) {
        let value = isObject ? child + 1 : child
        if place < Int(tape.entries[value].next) {
          path.append(isObject ? JSONStep(stringValue: text(child) ?? "") : JSONStep(intValue: number))
          container = value
          break
        }
        child = Int(tape.entries[value].next)
        number += 1
      }
      guard container > 0, child < Int(tape.entries[0].next) else { break }
    }
    return path
  }
}

/// One step of a coding path.
struct JSONStep: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "Index \(intValue)"
    self.intValue = intValue
  }
}
