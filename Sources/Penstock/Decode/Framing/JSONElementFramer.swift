/// The elements of one array in a JSON document of any size.
struct JSONElementFramer: ByteFramer {
  private var scanner: JSONElementScanner
  private var found: [BodyChunk] = []
  private var number: Int64 = 0

  init(path: JSONArrayPath, limit: ByteCount) {
    scanner = JSONElementScanner(path: path.steps, limit: Int(clamping: limit.bytes))
  }

  mutating func feed(_ bytes: BodyChunk, into elements: inout [StreamRecord]) throws(HTTPError) {
    defer {
      for element in found {
        number += 1
        elements.append(StreamRecord(bytes: element, number: number))
      }
      found.removeAll(keepingCapacity: found.capacity <= 2048)
    }
    try scanner.feed(bytes, into: &found)
  }

  mutating func finish(into elements: inout [StreamRecord]) throws(HTTPError) { try scanner.finish() }
}

/// Where an array is in a JSON document: "data.items" is the array under `items` in the object under `data`, and
/// "" is the document itself. A step that is a number also counts places in an array, from 0. Where a name has a
/// dot in it, write the steps as an array: `["a.b", "items"]`.
public struct JSONArrayPath: Sendable, Hashable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral,
  CustomStringConvertible
{
  /// The names on the way, from the outermost on.
  public let steps: [String]

  /// The path in a text, its steps separated by dots.
  public init(_ text: String) {
    steps = text.isEmpty ? [] : text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  /// The path of these steps.
  public init(steps: [String]) { self.steps = steps }

  /// See `init(_:)`.
  public init(stringLiteral text: String) { self.init(text) }

  /// See `init(steps:)`.
  public init(arrayLiteral steps: String...) { self.init(steps: steps) }

  /// The document itself.
  public static let root: JSONArrayPath = ""

  /// The steps, separated by dots.
  public var description: String { steps.joined(separator: ".") }
}
