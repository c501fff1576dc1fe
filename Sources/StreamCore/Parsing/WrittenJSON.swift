/// A JSON value (RFC 8259) as it was written, for the few texts that are read without a `Decoder`.
package enum WrittenJSON: Sendable, Equatable {
  case null
  case bool(Bool)
  /// The digits as they were written.
  case number(String)
  case string(String)
  case array([WrittenJSON])
  /// In the order in which they were written; a name may stand there again.
  case object([Member])

  package struct Member: Sendable, Equatable {
    package let name: String
    package let value: WrittenJSON

    package init(name: String, value: WrittenJSON) {
      self.name = name
      self.value = value
    }
  }
}
