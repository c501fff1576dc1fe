/// Cuts a multipart body (RFC 2046 §5.1) into parts, the same parts whatever the cuts of the chunks. Of the bodies of
/// parts nothing is held but what may be the beginning of a boundary.
package struct MultipartParser: Sendable {
  package enum Event: Sendable, Equatable {
    /// A part begins.
    case head(HTTPFields)
    /// Some of its content.
    case body(BodyChunk)
    /// It is complete.
    case partEnd
  }

  private enum State: Sendable {
    case preamble
    case head
    case body
    case epilogue
  }

  private enum Delimiter {
    case none
    /// There must be more to tell.
    case partial
    /// Another part begins behind this place.
    case part(Int)
    /// The last one, up to this place.
    case close(Int)
  }

  /// Blanks behind a boundary beyond this many make it content.
  private static let paddingLimit = 256

  private let delimiter: [UInt8]
  private let headLimit: Int
  private var state = State.preamble
  /// What couldn't be told yet. As the first line of a body may be a boundary, it begins with a line ending.
  private var held: [UInt8] = [0x0D, 0x0A]
  private var fields = HTTPFields()
  private var headBytes = 0
  private var parts: Int64 = 0
  private var failure: HTTPError?

  /// Parts whose heads have at most `headLimit` bytes.
  package init(boundary: String, headLimit: Int = 64 << 10) {
    delimiter = Array("\r\n--\(boundary)".utf8)
    self.headLimit = headLimit
  }

  /// Appends what happens in this chunk. Throws `.invalidRecord` for a damaged head and `.headTooLarge` for one above the
  /// limit, after what came before was appended, and then always.
  package mutating func feed(_ chunk: BodyChunk, into events: inout [Event]) throws(HTTPError) {
    if let failure { throw failure }
    var input = chunk
    if !held.isEmpty {
      held.reserveCapacity(held.count + chunk.count)
      chunk.append(to: &held)
      input = BodyChunk(held)
      held.removeAll(keepingCapacity: held.capacity <= 4 << 10)
    }
    if let error = input.withUnsafeBytes({ parse($0, of: input, into: &events) }) { throw failed(error) }
  }

  /// The body has ended: throws `.truncated` before the last boundary, `.invalidRecord` where there was none.
  package mutating func finish() throws(HTTPError) {
    if let failure { throw failure }
    switch state {
    case .epilogue: return
    case .preamble:
      throw failed(
        HTTPError(
          .invalidRecord, phase: .decode, message: "the multipart body doesn't have its boundary",
          advice: "Check that the boundary is the one of the Content-Type"))
    case .head, .body:
      throw failed(
        HTTPError(.truncated, phase: .decode, message: "the multipart body ends inside of part \(parts)"))
    }
  }

  private mutating func failed(_ error: HTTPError) -> HTTPError {
    failure = error
    held = []
    return error
  }

  private mutating func parse(
    _ bytes: UnsafeRawBufferPointer, of chunk: BodyChunk, into events: inout [Event]
  ) -> HTTPError? {
    var position = 0
    while position < bytes.count {
      switch state {
      case .epilogue: return nil
      case .preamble, .body:
        position = content(bytes, from: position, of: chunk, into: &events)
      case .head:
        guard let end = ByteScan.first(0x0A, in: bytes, from: position) else {
          hold(bytes, from: position)
          return headBytes + held.count > headLimit ? headTooLarge : nil
        }
        headBytes += end + 1 - position
        if headBytes > headLimit { return headTooLarge }
        let stop = end > position && bytes[end - 1] == 0x0D ? end - 1 : end
        let line = UnsafeRawBufferPointer(rebasing: bytes[position..<stop])
        position = end + 1
        if line.isEmpty {
          events.append(.head(fields))
          fields = HTTPFields()
          state = .body
        } else if let error = field(line) {
          return error
        }
      }
    }
    return nil
  }

  private mutating func hold(_ bytes: UnsafeRawBufferPointer, from start: Int) {
    held.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start...]))
  }

  /// Content up to the next boundary, or to the end; returns how far it came.
  private mutating func content(
    _ bytes: UnsafeRawBufferPointer, from start: Int, of chunk: BodyChunk, into events: inout [Event]
  ) -> Int {
    var search = start
    while let place = ByteScan.first(0x0D, in: bytes, from: search) {
      switch found(bytes, at: place) {
      case .none: search = place + 1
      case .partial:
        emit(chunk, start, place, into: &events)
        hold(bytes, from: place)
        return bytes.count
      case .part(let next):
        emit(chunk, start, place, into: &events)
        if state == .body { events.append(.partEnd) }
        state = .head
        headBytes = 0
        parts += 1
        return next
      case .close(let next):
        emit(chunk, start, place, into: &events)
        if state == .body { events.append(.partEnd) }
        state = .epilogue
        return next
      }
    }
    emit(chunk, start, bytes.count, into: &events)
    return bytes.count
  }

  private func emit(_ chunk: BodyChunk, _ start: Int, _ end: Int, into events: inout [Event]) {
    if state == .body, end > start {
      events.append(.body(chunk[chunk.startIndex + start..<chunk.startIndex + end]))
    }
  }

  /// What begins at a CR.
  private func found(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Delimiter {
    var index = place
    for byte in delimiter {
      if index == bytes.count { return .partial }
      if bytes[index] != byte { return .none }
      index += 1
    }
    if index == bytes.count { return .partial }
    if bytes[index] == UInt8(ascii: "-") {
      if index + 1 == bytes.count { return .partial }
      return bytes[index + 1] == UInt8(ascii: "-") ? .close(index + 2) : .none
    }
    let end = index + Self.paddingLimit
    while index < bytes.count, index < end, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
    if index == bytes.count { return .partial }
    if bytes[index] == 0x0A { return .part(index + 1) }
    guard bytes[index] == 0x0D else { return .none }
    if index + 1 == bytes.count { return .partial }
    return bytes[index + 1] == 0x0A ? .part(index + 2) : .none
  }

  private mutating func field(_ line: UnsafeRawBufferPointer) -> HTTPError? {
    guard let colon = ByteScan.first(UInt8(ascii: ":"), in: line, from: 0), colon > 0,
      line[..<colon].allSatisfy(FieldSyntax.isTokenByte)
    else {
      return HTTPError(
        .invalidRecord, phase: .decode,
        message: "part \(parts) of the multipart body has a line that is no header")
    }
    fields.append(
      String(decoding: line[..<colon], as: UTF8.self),
      bytes: Array(FieldSyntax.trimmed(Array(line[(colon + 1)...])[...])))
    return nil
  }

  private var headTooLarge: HTTPError {
    HTTPError(
      .headTooLarge, phase: .decode,
      message: "the head of part \(parts) of the multipart body is larger than \(headLimit) bytes")
  }
}
