/// Checks and compacts single JSON values that are here whole.
package struct JSONRecord: Sendable {
  private var scanner = JSONScanner(watching: -1)

  package init() {}

  /// What is wrong with a value.
  package struct Fault: Error, Sendable {
    /// The first byte that is wrong, from 0.
    package let place: Int
    package let message: String
  }

  /// The value without blanks outside of strings, everything else as it came; shares the memory where there are
  /// none. Throws for what isn't one JSON value in UTF-8.
  package mutating func compacted(_ value: BodyChunk) throws(Fault) -> BodyChunk {
    scanner.reset()
    var result = value
    let fault: Fault? = value.withUnsafeBytes { bytes in
      var position = 0
      if case .invalid(let place, let expected) = scanner.next(bytes, &position) {
        return Fault(place: place, message: "expected \(expected)")
      }
      switch scanner.finish() {
      case .complete: break
      case .empty: return Fault(place: 0, message: "no value")
      case .cut: return Fault(place: bytes.count, message: "the value is cut off")
      }
      if let place = UTF8Check.firstInvalid(bytes) { return Fault(place: place, message: "no UTF-8") }
      if scanner.hasBlanks { result = Self.withoutBlanks(bytes, value) }
      return nil
    }
    if let fault { throw fault }
    return result
  }

  /// Copies runs without blanks, strings whole.
  private static func withoutBlanks(_ bytes: UnsafeRawBufferPointer, _ value: BodyChunk) -> BodyChunk {
    var first = 0
    var last = bytes.count
    while first < last, bytes[first] <= 0x20 { first += 1 }
    while last > first, bytes[last - 1] <= 0x20 { last -= 1 }
    var output: [UInt8] = []
    var runStart = first
    var index = first
    while index < last {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        index += 1
        // Behind the string's end; escaped bytes are stepped over in pairs.
        while index < last, let stop = ByteScan.firstOfStringEnd(in: bytes, from: index) {
          index = stop + (bytes[stop] == UInt8(ascii: "\\") ? 2 : 1)
          if bytes[stop] == UInt8(ascii: "\"") { break }
        }
      } else if byte <= 0x20 {
        if output.isEmpty { output.reserveCapacity(last - first) }
        output.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[runStart..<index]))
        while index < last, bytes[index] <= 0x20 { index += 1 }
        runStart = index
      } else {
        index += 1
      }
    }
    if runStart == first { return value[value.startIndex + first..<value.startIndex + last] }
    output.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[runStart..<last]))
    return BodyChunk(output)
  }
}
