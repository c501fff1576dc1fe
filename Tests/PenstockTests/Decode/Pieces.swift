import Penstock
import StreamCore
import Testing

/// A body that comes in these pieces; then it ends, or fails.
struct Pieces: AsyncSequence, Sendable {
  let pieces: [[UInt8]]
  var failure: HTTPError?

  struct Iterator: AsyncIteratorProtocol {
    var rest: ArraySlice<[UInt8]>
    let failure: HTTPError?

    mutating func next() async throws -> [UInt8]? {
      guard let piece = rest.popFirst() else {
        if let failure { throw failure }
        return nil
      }
      return piece
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(rest: pieces[...], failure: failure) }
}

extension ResponseBody {
  /// A body that comes in these pieces.
  init(pieces: [[UInt8]], failure: HTTPError? = nil) {
    self.init(stream: Pieces(pieces: pieces, failure: failure))
  }

  /// A body that comes in two pieces.
  init(_ text: String, cut: Int) {
    let bytes = Array(text.utf8)
    self.init(pieces: [Array(bytes[..<cut]), Array(bytes[cut...])])
  }
}

/// All elements, and the error that ended them.
func collected<S: AsyncSequence>(_ sequence: S) async -> ([S.Element], HTTPError?) {
  var elements: [S.Element] = []
  do {
    for try await element in sequence { elements.append(element) }
    return (elements, nil)
  } catch {
    return (elements, error as? HTTPError)
  }
}

/// Expects the same values and end of a text at every cut, and of its single bytes.
func everyCut<Value: Equatable & Sendable>(
  _ text: String, _ expected: [Value], kind: HTTPError.Kind? = nil,
  at location: SourceLocation = #_sourceLocation,
  _ read: (ResponseBody) -> some AsyncSequence<Value, HTTPError>
) async {
  for cut in 0...text.utf8.count {
    let (values, error) = await collected(read(ResponseBody(text, cut: cut)))
    #expect(values == expected, "cut at \(cut)", sourceLocation: location)
    #expect(error?.kind == kind, "cut at \(cut)", sourceLocation: location)
  }
  let (values, error) = await collected(read(ResponseBody(pieces: Array(text.utf8).map { [$0] })))
  #expect(values == expected, sourceLocation: location)
  #expect(error?.kind == kind, sourceLocation: location)
}
