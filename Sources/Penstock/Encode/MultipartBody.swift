import CurlTransport

extension RequestBody {
  /// A form of parts (RFC 7578). Its files are opened, and its exact length is counted, when the request is sent: a
  /// file that can't be read throws `HTTPError.Kind.readFailed` before any byte is. It can be sent again when all
  /// parts can.
  public static func multipart(_ form: MultipartForm) -> RequestBody {
    let isReplayable = form.parts.allSatisfy(\.body.isReplayable)
    var body = RequestBody.deferred(isReplayable: isReplayable) { () throws(HTTPError) -> RequestBody in
      try form.check()
      var pieces: [MultipartBodySource.Piece] = []
      var length: Int64? = 0
      func add(_ body: RequestBody) throws(HTTPError) {
        let opened = try body.made()
        let piece: MultipartBodySource.Piece
        var size = opened.length
        switch opened.content {
        case .empty: return
        case .bytes(let chunk): piece = .bytes(chunk)
        case .stream(let make): piece = .stream(make, length: opened.length)
        case .file(let path):
          let file = try FileBody.opened(path)
          guard case .stream(let make) = file.content else { return }
          size = file.length
          piece = .stream(make, length: file.length)
        case .deferred: return
        }
        pieces.append(piece)
        if let size, let sum = length { length = sum + size } else { length = nil }
      }
      for (index, part) in form.parts.enumerated() {
        try add(.string(form.head(of: part, isFirst: index == 0)))
        try add(part.body)
      }
      try add(.string(form.tail))
      let all = pieces
      return .source(length: length, isReplayable: isReplayable) { MultipartBodySource(all) }
    }.typed(form.contentType)
    body.origin = form
    return body
  }
}

/// The pieces of a form one after another.
final class MultipartBodySource: BodySource, @unchecked Sendable {
  // Sendable: one task at a time reads it.
  enum Piece: Sendable {
    case bytes(BodyChunk)
    case stream(@Sendable () -> any BodySource, length: Int64?)
  }

  private var pieces: ArraySlice<Piece>
  private var current: (any BodySource)?
  private var expected: Int64?
  private var given: Int64 = 0

  init(_ pieces: [Piece]) { self.pieces = pieces[...] }

  func next() async throws(HTTPError) -> BodyChunk? {
    while true {
      if let current {
        if let chunk = try await current.next() {
          given += Int64(chunk.count)
          try check(isEnd: false)
          return chunk
        }
        try check(isEnd: true)
        self.current = nil
      }
      switch pieces.popFirst() {
      case .bytes(let chunk): return chunk
      case .stream(let make, let length):
        current = make()
        expected = length
        given = 0
      case nil: return nil
      }
    }
  }

  /// A part that is longer or shorter than it said would put all that follows into its place.
  private func check(isEnd: Bool) throws(HTTPError) {
    guard let expected, given > expected || (isEnd && given < expected) else { return }
    throw HTTPError(
      .invalidBody, phase: .request,
      message: "a part of the form gave \(isEnd ? "only" : "more than") "
        + "\(isEnd ? given : expected) bytes where \(expected) were announced")
  }

  func abandon() {
    current?.abandon()
    current = nil
    pieces = []
  }
}
