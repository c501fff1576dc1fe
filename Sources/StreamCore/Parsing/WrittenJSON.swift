/// A JSON value as it was written.
package enum WrittenJSON: Sendable, Hashable {
  case null
  case bool(Bool)
  /// The digits as they were written.
  case number(String)
  case string(String)
  case array([WrittenJSON])
  /// In their order, equal names too.
  case object([Member])

  package struct Member: Sendable, Hashable {
    package let name: String
    package let value: WrittenJSON

    package init(name: String, value: WrittenJSON) {
      self.name = name
      self.value = value
    }
  }
}
