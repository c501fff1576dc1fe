import Penstock
import StreamCore
import TestSupport

/// Runs a whole body through a decoder.
func decode(
  _ pieces: [[UInt8]], _ codings: [ContentCoding], limits: DecodingLimits = .standard
) -> Result<[UInt8], HTTPError> {
  do throws(HTTPError) {
    let decoder = try ContentDecoder(codings: codings, limits: limits)
    var output: [UInt8] = []
    for piece in pieces {
      decoder.feed(BodyChunk(piece))
      while let chunk = try decoder.next() { chunk.append(to: &output) }
    }
    while let chunk = try decoder.next() { chunk.append(to: &output) }
    try decoder.finish()
    return .success(output)
  } catch {
    return .failure(error)
  }
}

func decode(
  _ body: [UInt8], _ codings: [ContentCoding], limits: DecodingLimits = .standard
) -> Result<[UInt8], HTTPError> {
  decode([body], codings, limits: limits)
}

extension Result where Failure == HTTPError {
  var kind: HTTPError.Kind? {
    switch self {
    case .success: nil
    case .failure(let error): error.kind
    }
  }
}

/// Text that shrinks well, with some noise.
func sampleText(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
  var generator = SeededGenerator(seed: seed)
  var bytes: [UInt8] = []
  while bytes.count < count {
    bytes += Array("line \(generator.next() % 1000): the quick brown fox\n".utf8)
  }
  return Array(bytes.prefix(count))
}
