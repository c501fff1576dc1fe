/// A URI template of levels 1 to 3 (RFC 6570): `{id}`, `{+path}`, `{#part}`, `{.ext}`, `{/a,b}`, `{;x,y}`, `{?q,page}`,
/// `{&more}`. The modifiers of level 4 (`*` and `:3`) are refused.
public struct URLTemplate: Sendable, Hashable {
  private enum Piece: Sendable, Hashable {
    case literal(String)
    case expression(Operator, [String])
  }

  private enum Operator: Character, Sendable {
    case simple = "_"
    case reserved = "+"
    case fragment = "#"
    case label = "."
    case path = "/"
    case parameters = ";"
    case query = "?"
    case continuation = "&"

    var first: String {
      switch self {
      case .simple, .reserved: ""
      default: String(rawValue)
      }
    }
    var separator: String {
      switch self {
      case .simple, .reserved, .fragment: ","
      case .label: "."
      case .path: "/"
      case .parameters: ";"
      case .query, .continuation: "&"
      }
    }
    var allowsReserved: Bool { self == .reserved || self == .fragment }
    var isNamed: Bool { self == .parameters || self == .query || self == .continuation }
  }

  private let pieces: [Piece]
  private let text: String

  /// Reads a template.
  /// - Throws: `HTTPError.Kind.invalidURL` naming the expression that can't be read.
  public init(_ template: String) throws(HTTPError) {
    text = template
    var pieces: [Piece] = []
    var rest = Substring(template)
    while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      if open > rest.startIndex { pieces.append(.literal(String(rest[..<open]))) }
      guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}") else {
        throw Self.unusable(template, "a brace has no partner")
      }
      pieces.append(try Self.expression(rest[rest.index(after: open)..<close], in: template))
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { pieces.append(.literal(String(rest))) }
    self.pieces = pieces
  }

  private static func expression(_ body: Substring, in template: String) throws(HTTPError) -> Piece {
    var names = body
    var kind = Operator.simple
    if let first = body.first, !isNameCharacter(first), first != "%" {
      guard let known = Operator(rawValue: first) else {
        throw unusable(template, "\"{\(body)}\" begins with an unknown operator")
      }
      kind = known
      names = body.dropFirst()
    }
    let variables = names.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    for name in variables {
      if name.hasSuffix("*") || name.contains(":") {
        throw unusable(template, "\"{\(body)}\" has a modifier of level 4")
      }
      if name.isEmpty || !name.allSatisfy({ isNameCharacter($0) || $0 == "." || $0 == "%" }) {
        throw unusable(template, "\"{\(body)}\" names no variable")
      }
    }
    return .expression(kind, variables)
  }

  private static func isNameCharacter(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == "-")
  }

  /// The names of all variables, in order.
  public var variables: [String] {
    pieces.flatMap { piece in
      if case .expression(_, let names) = piece { return names }
      return []
    }
  }

  /// The template with its values put in, percent-encoded. A value that is nil is left out, with what belongs
  /// to it.
  ///
  /// - Throws: `HTTPError.Kind.invalidURL` naming a variable that `values` doesn't know, and `encodingFailed` for a
  ///   value that can't be written.
  public func expanded(_ values: [String: (any URLValue)?]) throws(HTTPError) -> String {
    var result = ""
    for piece in pieces {
      switch piece {
      case .literal(let literal): result += PercentEncoder.encodeIllegal(literal)
      case .expression(let kind, let names): result += try expanded(kind, names, values)
      }
    }
    return result
  }

  private func expanded(
    _ kind: Operator, _ names: [String], _ values: [String: (any URLValue)?]
  ) throws(HTTPError) -> String {
    var parts: [String] = []
    for name in names {
      guard let known = values[name] else {
        throw Self.unusable(text, "the variable \"\(name)\" has no value")
      }
      guard let value = known else { continue }
      guard let written = value.urlText else {
        throw HTTPError(
          .encodingFailed, phase: .queue,
          message: "the value \(value) of the variable \"\(name)\" can't be written")
      }
      let encoded =
        kind.allowsReserved ? PercentEncoder.encodeIllegal(written) : PercentEncoder.encode(written)
      if !kind.isNamed {
        parts.append(encoded)
      } else if encoded.isEmpty, kind == .parameters {
        parts.append(name)
      } else {
        parts.append("\(name)=\(encoded)")
      }
    }
    return parts.isEmpty ? "" : kind.first + parts.joined(separator: kind.separator)
  }

  private static func unusable(_ template: String, _ why: String) -> HTTPError {
    HTTPError(
      .invalidURL, phase: .queue, message: "the template \"\(template)\" can't be used: \(why)",
      advice: "Levels 1 to 3 of RFC 6570 are understood, such as \"/users/{id}{?page}\"")
  }
}
