import StreamCore

/// A value taken apart: what queries and header fields are made from.
final class ValueNode {
  enum Content {
    /// Nothing was encoded.
    case missing
    case null
    /// `isLiteral`: a number or a `Bool`, which JSON writes without quotes.
    case text(String, isLiteral: Bool)
    case list([ValueNode])
    case object([(key: String, value: ValueNode)])
  }

  var content = Content.missing
  /// What the text was made of, where that were bytes.
  var bytes: [UInt8]?

  var isNull: Bool {
    switch content {
    case .missing, .null: true
    default: false
    }
  }

  var isText: Bool {
    if case .text = content { return true }
    return false
  }

  var plainText: String {
    if case .text(let text, _) = content { return text }
    return ""
  }

  func append(_ key: String) -> ValueNode {
    let child = ValueNode()
    if case .object(var members) = content {
      content = .missing
      members.append((key, child))
      content = .object(members)
    } else {
      content = .object([(key, child)])
    }
    return child
  }

  func append() -> ValueNode {
    let child = ValueNode()
    if case .list(var children) = content {
      content = .missing
      children.append(child)
      content = .list(children)
    } else {
      content = .list([child])
    }
    return child
  }

  func sortMembers() {
    if case .object(let members) = content { content = .object(members.sorted { $0.key < $1.key }) }
  }

  /// The value as JSON; members that are nil are left out.
  var json: String {
    switch content {
    case .missing, .null: "null"
    case .text(let text, let isLiteral): isLiteral ? text : Self.quoted(text)
    case .list(let children): "[" + children.map(\.json).joined(separator: ",") + "]"
    case .object(let members):
      "{"
        + members.filter { !$0.value.isNull }.map { Self.quoted($0.key) + ":" + $0.value.json }
        .joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if scalar.value < 0x20 {
          let digits = String(scalar.value, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}
