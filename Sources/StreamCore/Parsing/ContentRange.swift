/// The value of `Content-Range` in bytes (RFC 9110 §14.4).
package enum ContentRange: Sendable, Hashable {
  /// These bytes of a whole of `complete` bytes, nil where the server doesn't know.
  case satisfied(first: Int64, last: Int64, complete: Int64?)
  /// With status 416: the whole has this many bytes.
  case unsatisfied(complete: Int64)

  /// Nil for another unit, for ranges that end before they begin or beyond the whole, and for anything that
  /// isn't in the form.
  package init?(_ value: String) {
    let text = FieldSyntax.trimmed(Array(value.utf8)[...])
    let unit = Array("bytes ".utf8)
    guard text.count > unit.count,
      zip(text, unit).allSatisfy({ FieldSyntax.lower($0) == $1 })
    else { return nil }
    let parts = FieldSyntax.trimmed(text.dropFirst(unit.count))
      .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let star = [UInt8(ascii: "*")]
    let complete = DecimalDigits.value(parts[1])
    if parts[0].elementsEqual(star) {
      guard let complete else { return nil }
      self = .unsatisfied(complete: complete)
      return
    }
    guard complete != nil || parts[1].elementsEqual(star) else { return nil }
    let ends = parts[0].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard ends.count == 2, let first = DecimalDigits.value(ends[0]), let last = DecimalDigits.value(ends[1]),
      first <= last
    else { return nil }
    if let complete, last >= complete { return nil }
    self = .satisfied(first: first, last: last, complete: complete)
  }

  /// The size of the whole where it is known.
  package var complete: Int64? {
    switch self {
    case .satisfied(_, _, let complete): complete
    case .unsatisfied(let complete): complete
    }
  }
}
