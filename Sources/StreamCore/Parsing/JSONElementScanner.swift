/// Cuts the elements of one array out of a JSON document of any size, as they come. The rest of the document is
/// checked and not kept.
package struct JSONElementScanner: Sendable {
  private let path: [[UInt8]]
  /// The same for arrays on the way.
  private let indices: [Int?]
  private let pathText: String
  private let limit: Int
  private var scanner: JSONScanner
  /// How many open containers, from the outermost on, lie on the path.
  private var onPath = 0
  /// For each of them whether it is an object, and how many of its values began.
  private var containers: [(isObject: Bool, begun: Int)] = []
  /// The last name in the innermost container on the path is the next step.
  private var keyMatches = false
  /// Within the array.
  private var isInside = false
  private var wasFound = false
  /// Where the element that is being read begins in this chunk.
  private var start: Int?
  /// Its bytes from earlier chunks.
  private var carried: [UInt8] = []
  /// How many bytes of a byte order mark have come; nil once it is known whether there is one.
  private var mark: Int? = 0
  /// Bytes of earlier chunks, for messages.
  private var offset: Int64 = 0
  /// Elements that were complete.
  private var count: Int64 = 0
  private var failure: HTTPError?

  /// Elements of at most `limit` bytes; an empty path is the document itself.
  package init(path: [String], limit: Int = 1 << 20) {
    self.path = path.map { Array($0.utf8) }
    indices = path.map { Int($0) }
    pathText = path.joined(separator: ".")
    self.limit = max(0, limit)
    scanner = JSONScanner(watching: path.count + 1)
  }

  /// Appends the elements that end in this chunk.
  ///
  /// Throws `.invalidRecord` where the document isn't JSON or the path leads to something else than an array, and
  /// `.lineTooLong` for an element above the limit, after the elements before it were appended, and then always.
  package mutating func feed(_ chunk: BodyChunk, into elements: inout [BodyChunk]) throws(HTTPError) {
    if let failure { throw failure }
    let error = chunk.withUnsafeBytes { scan($0, of: chunk, into: &elements) }
    offset += Int64(chunk.count)
    if let error { throw failed(error) }
  }

  /// The document has ended: throws `.truncated` when it is incomplete, `.invalidRecord` when it had no such array.
  package mutating func finish() throws(HTTPError) {
    if let failure { throw failure }
    switch scanner.finish() {
    case .complete: break
    case .empty:
      throw failed(HTTPError(.invalidRecord, phase: .decode, message: "the JSON document is empty"))
    case .cut:
      throw failed(
        HTTPError(
          .truncated, phase: .decode,
          message: "the JSON document ends before it is complete, after \(count) elements and \(offset) bytes"
        ))
    }
    if !wasFound {
      throw failed(
        HTTPError(
          .invalidRecord, phase: .decode, message: "the JSON document has no array at \(named)",
          advice: "Check the path; its steps are names of objects, or places in arrays, separated by dots"))
    }
  }

  private var named: String { path.isEmpty ? "its outermost level" : "\"\(pathText)\"" }

  private mutating func failed(_ error: HTTPError) -> HTTPError {
    failure = error
    carried = []
    return error
  }

  private mutating func scan(
    _ bytes: UnsafeRawBufferPointer, of chunk: BodyChunk, into elements: inout [BodyChunk]
  ) -> HTTPError? {
    var position = 0
    if start != nil { start = 0 }
    if mark != nil {
      guard let end = markEnd(bytes) else { return noJSON(0, "a value") }
      position = end
    }
    while true {
      switch scanner.next(bytes, &position) {
      case .begin(let place, let level, let shape):
        if let error = begin(at: place, level: level, shape) { return error }
      case .end(let place, let level):
        guard let element = end(at: place, level: level, bytes, of: chunk) else { continue }
        if element.count > limit { return tooLarge }
        count += 1
        elements.append(element)
      case .key(let level):
        if level == onPath, level <= path.count {
          keyMatches = JSONKey.matches(scanner.key, path[level - 1])
        }
      case .invalid(let place, let expected):
        // Too large whatever the cuts of the chunks.
        if let start, carried.count + place - start > limit { return tooLarge }
        return noJSON(offset + Int64(place), expected)
      case .more:
        guard let start else { return nil }
        carried.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start...]))
        return carried.count > limit ? tooLarge : nil
      }
    }
  }

  /// The place behind a byte order mark (RFC 8259 §8.1), as far as it has come; nil for a part of one.
  private mutating func markEnd(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var place = 0
    while let count = mark, place < bytes.count {
      guard bytes[place] == ByteOrderMark.bytes[count] else {
        mark = nil
        return count == 0 ? 0 : nil
      }
      place += 1
      mark = count == 2 ? nil : count + 1
    }
    return place
  }

  private func noJSON(_ place: Int64, _ expected: StaticString) -> HTTPError {
    HTTPError(
      .invalidRecord, phase: .decode,
      message: "the document isn't JSON at byte \(place + 1), after \(count) elements: expected \(expected)")
  }

  private var tooLarge: HTTPError {
    HTTPError(
      .lineTooLong, phase: .decode, message: "element \(count + 1) of \(named) is larger than \(limit) bytes",
      advice: "Raise the limit on elements if such elements are expected")
  }

  private mutating func begin(at place: Int, level: Int, _ shape: JSONScanner.Shape) -> HTTPError? {
    if isInside {
      if level == path.count + 1 { start = place }
      return nil
    }
    guard onPath == level else { return nil }
    if level > 0 {
      let parent = containers[level - 1]
      containers[level - 1].begun += 1
      guard parent.isObject ? keyMatches : indices[level - 1] == parent.begun else { return nil }
      keyMatches = false
    }
    if level == path.count {
      guard shape == .array else {
        return HTTPError(
          .invalidRecord, phase: .decode, message: "what the JSON document has at \(named) is no array",
          advice: "Check the path")
      }
      isInside = true
      wasFound = true
    } else if shape == .scalar {
      return nil
    }
    onPath = level + 1
    containers.append((shape == .object, 0))
    return nil
  }

  /// The element, if this was the end of one.
  private mutating func end(
    at place: Int, level: Int, _ bytes: UnsafeRawBufferPointer, of chunk: BodyChunk
  ) -> BodyChunk? {
    if isInside, level == path.count + 1, let start {
      self.start = nil
      let base = chunk.startIndex
      if carried.isEmpty { return BodyChunk(slab: chunk.slab, range: base + start..<base + place) }
      carried.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<place]))
      defer { carried.removeAll(keepingCapacity: carried.capacity <= 4 << 10) }
      return BodyChunk(carried)
    }
    if onPath == level + 1, containers.count == onPath {
      containers.removeLast()
      onPath = level
      isInside = false
    }
    return nil
  }
}
