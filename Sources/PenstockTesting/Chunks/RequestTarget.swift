/// The parts of a request target such as `/bytes/2g?size=10`.
struct RequestTarget {
  /// The first part of the path.
  let route: String
  /// What stands behind the route and its slash.
  let rest: String
  private let query: [String: String]

  init(_ target: String) {
    let halves = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = (halves.first ?? "").drop { $0 == "/" }
    let parts = path.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    route = String(parts.first ?? "")
    rest = parts.count > 1 ? String(parts[1]) : ""
    var query: [String: String] = [:]
    for pair in halves.count > 1 ? halves[1].split(separator: "&") : [] {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      query[String(sides[0])] = sides.count > 1 ? String(sides[1]) : ""
    }
    self.query = query
  }

  /// The number behind the route.
  var count: Int64? { Self.parse(rest) }

  /// A number of the query; nil if it is there but wrong.
  func number(_ name: String, default other: Int) -> Int? {
    guard let text = query[name] else { return other }
    return Self.parse(text).map { Int($0) }
  }

  private static func parse(_ text: String) -> Int64? {
    var digits = text[...]
    var shift: Int64 = 0
    switch digits.last {
    case "k": shift = 10
    case "m": shift = 20
    case "g": shift = 30
    default: break
    }
    if shift > 0 { digits.removeLast() }
    guard digits.first?.isWholeNumber == true, let number = Int64(digits) else { return nil }
    let (value, overflow) = number.multipliedReportingOverflow(by: 1 << shift)
    return overflow ? nil : value
  }
}
