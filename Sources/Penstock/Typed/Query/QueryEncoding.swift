import FoundationEssentials

/// How values become query items: arrays, nested values, dates, data, keys. What is nil is left out.
public struct QueryEncoding: Sendable {
  /// How an array is written.
  public enum Arrays: Sendable, Hashable {
    /// `tag=a&tag=b`.
    case repeated
    /// `tag=a,b`.
    case comma
    /// `tag=a|b`, with a separator of your own.
    case separated(String)
    /// `tag[]=a&tag[]=b`.
    case brackets
    /// `tag[0]=a&tag[1]=b`.
    case indexed
  }

  /// How a value inside a value is written.
  public enum Nesting: Sendable, Hashable {
    /// `filter[state]=open`.
    case brackets
    /// `filter.state=open`.
    case dots
    /// `filter={"state":"open"}`.
    case json
  }

  /// How a `Bool` is written.
  public enum Bools: Sendable, Hashable {
    /// `true` and `false`.
    case words
    /// `1` and `0`.
    case digits
    /// Two words of your own.
    case custom(true: String, false: String)
  }

  /// How `Data` is written.
  public enum DataForm: Sendable, Hashable {
    /// RFC 4648 §4.
    case base64
    /// RFC 4648 §5, without padding.
    case base64URL
    /// Two small hexadecimal digits a byte.
    case hex
  }

  /// How arrays are written; an array that holds more than plain values is indexed.
  public var arrays: Arrays
  /// How nested values are written.
  public var nesting: Nesting
  /// How a `Bool` is written.
  public var bools: Bools
  /// How a `Date` is written.
  public var dates: DateForm
  /// How `Data` is written.
  public var data: DataForm
  /// How names are written.
  public var keys: KeyForm

  /// Repeated arrays, brackets, `true` and `false`, ISO 8601, base64, names as they are.
  public init(
    arrays: Arrays = .repeated, nesting: Nesting = .brackets, bools: Bools = .words,
    dates: DateForm = .iso8601, data: DataForm = .base64, keys: KeyForm = .asWritten
  ) {
    self.arrays = arrays
    self.nesting = nesting
    self.bools = bools
    self.dates = dates
    self.data = data
    self.keys = keys
  }

  /// The defaults.
  public static let standard = QueryEncoding()

  /// The items of a model: its properties in the order in which it encodes them, those of a dictionary sorted by
  /// name.
  ///
  /// - Throws: `HTTPError.Kind.encodingFailed` naming what can't be written.
  public func items(_ model: some Encodable) throws(HTTPError) -> [QueryItem] {
    let root = try tree(model)
    switch root.content {
    case .missing, .null: return []
    case .object:
      var items: [QueryItem] = []
      flatten(root, name: "", into: &items)
      return items
    case .text, .list:
      throw HTTPError(
        .encodingFailed, phase: .queue,
        message: "a value of type \(type(of: model)) has no names, so it can't be a query",
        advice: "Encode a struct or a dictionary")
    }
  }

  /// The items of one value under a name: arrays and nested values as set.
  ///
  /// - Throws: `HTTPError.Kind.encodingFailed` naming what can't be written.
  public func items(_ name: String, _ value: some Encodable) throws(HTTPError) -> [QueryItem] {
    var items: [QueryItem] = []
    flatten(try tree(value), name: name, into: &items)
    return items
  }

  private func tree(_ value: some Encodable) throws(HTTPError) -> ValueNode {
    let root = ValueNode()
    do {
      try ValueTreeEncoder.put(value, into: root, at: [], encoding: self)
    } catch {
      throw EncodingFailure.error(error, type: type(of: value))
    }
    return root
  }

  private func flatten(_ node: ValueNode, name: String, into items: inout [QueryItem]) {
    switch node.content {
    case .missing, .null: break
    case .text: items.append(item(name, node))
    case .object(let members):
      if nesting == .json, !name.isEmpty {
        items.append(QueryItem(name, text: node.json))
        return
      }
      for (key, child) in members {
        flatten(child, name: name.isEmpty ? key : nested(name, key), into: &items)
      }
    case .list(let children): flatten(children, of: node, name: name, into: &items)
    }
  }

  private func nested(_ name: String, _ key: String) -> String {
    nesting == .dots ? "\(name).\(key)" : "\(name)[\(key)]"
  }

  private func flatten(
    _ children: [ValueNode], of node: ValueNode, name: String, into items: inout [QueryItem]
  ) {
    let kept = children.filter { !$0.isNull }
    guard kept.allSatisfy(\.isText) else {
      if nesting == .json {
        items.append(QueryItem(name, text: node.json))
        return
      }
      for (index, child) in children.enumerated() {
        flatten(child, name: nested(name, String(index)), into: &items)
      }
      return
    }
    let texts = kept.map(\.plainText)
    switch arrays {
    case .repeated: items += kept.map { item(name, $0) }
    case .brackets: items += kept.map { item(name + "[]", $0) }
    case .indexed: items += kept.enumerated().map { item("\(name)[\($0.offset)]", $0.element) }
    case .comma: if !texts.isEmpty { items.append(QueryItem(name, text: texts.joined(separator: ","))) }
    case .separated(let mark):
      if !texts.isEmpty { items.append(QueryItem(name, text: texts.joined(separator: mark))) }
    }
  }

  private func item(_ name: String, _ node: ValueNode) -> QueryItem {
    var item = QueryItem(name, text: node.plainText)
    item.bytes = node.bytes
    return item
  }

  func text(_ data: Data) -> String {
    switch self.data {
    case .base64: return data.base64EncodedString()
    case .base64URL:
      return data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    case .hex: return HexDigits.encode(data)
    }
  }

  func text(_ value: Bool) -> String {
    switch bools {
    case .words: value ? "true" : "false"
    case .digits: value ? "1" : "0"
    case .custom(let yes, let no): value ? yes : no
    }
  }
}
