/// One row of a CSV file (RFC 4180).
public struct CSVRow: Sendable, Hashable, RandomAccessCollection {
  /// What all rows of a file share.
  final class Header: Sendable {
    let names: [String]
    let places: [String: Int]

    init(_ names: [String]) {
      self.names = names
      places = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }
  }

  /// All fields one after another, quotation marks taken off.
  private let bytes: [UInt8]
  /// Where each field ends.
  private let ends: [Int32]
  private let header: Header?
  /// Its number, from 1; a header row isn't counted.
  public let number: Int64
  /// The line that it begins in, from 1.
  public let line: Int64

  init(bytes: [UInt8], ends: [Int32], header: Header?, number: Int64, line: Int64) {
    self.bytes = bytes
    self.ends = ends
    self.header = header
    self.number = number
    self.line = line
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// How many fields it has.
  public var endIndex: Int { ends.count }

  /// A field as text; bytes that aren't UTF-8 are replaced by U+FFFD. Made anew by each call.
  public subscript(position: Int) -> String { String(decoding: field(position), as: UTF8.self) }

  /// The field under a name of the header row; nil where there is none of that name. Of several the first.
  public subscript(name: String) -> String? {
    place(of: name).map { self[$0] }
  }

  /// The position of the column of a name.
  func place(of name: String) -> Int? {
    guard let place = header?.places[name], place < ends.count else { return nil }
    return place
  }

  /// The bytes of a field.
  public func field(_ position: Int) -> ArraySlice<UInt8> {
    let start = position == 0 ? 0 : Int(ends[position - 1])
    return bytes[start..<Int(ends[position])]
  }

  /// The names of the header row; empty where the file has none.
  public var names: [String] { header?.names ?? [] }

  /// Whether the fields are equal.
  public static func == (left: CSVRow, right: CSVRow) -> Bool {
    left.bytes == right.bytes && left.ends == right.ends
  }

  /// Feeds the fields.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(bytes)
    hasher.combine(ends)
  }
}
