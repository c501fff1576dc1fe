/// A path written as text with typed values in it. What is interpolated becomes part of one segment, percent-encoded;
/// what is written out is kept, its slashes normalised.
///
/// ```swift
/// var path: RequestPath { "/users/\(id)/files/\(name)" }
/// ```
///
/// A value that is empty, `.` or `..`, or can't be written makes the request throw `HTTPError.Kind.invalidURL` or
/// `encodingFailed` before any byte is sent.
public struct RequestPath: Sendable, ExpressibleByStringInterpolation {
  var path = PathText()
  /// Query items that were written behind a `?`.
  var query: [QueryItem] = []

  /// A path as it is written, with what a URL can't hold percent-encoded.
  public init(stringLiteral value: String) { self.init(encoded: value) }

  /// A path with values in it.
  public init(stringInterpolation: StringInterpolation) {
    self.init(encoded: stringInterpolation.text)
    if let failure = stringInterpolation.failure { path.fail(failure) }
  }

  /// A path from segments.
  public init(_ segments: any URLValue...) {
    for segment in segments { path.append(segment) }
  }

  /// A path from a template (RFC 6570, levels 1 to 3) and its values; nil leaves a variable out.
  ///
  /// A variable that has no value, or an expression that can't be read, makes the request throw
  /// `HTTPError.Kind.invalidURL` naming it.
  public init(template: String, _ values: [String: (any URLValue)?]) {
    do throws(HTTPError) {
      self.init(encoded: try URLTemplate(template).expanded(values))
    } catch {
      self.init()
      path.fail(error)
    }
  }

  private init(encoded: String) {
    let withoutFragment = encoded.prefix { $0 != "#" }
    let parts = withoutFragment.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path.append(encoded: PercentEncoder.encodeIllegal(String(parts.first ?? "")))
    if parts.count > 1 { query = QueryText.items(parts[1]) }
  }

  /// Gathers the pieces of a path.
  public struct StringInterpolation: StringInterpolationProtocol {
    var text = ""
    var failure: HTTPError?

    /// Room for the pieces.
    public init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 8)
    }

    /// Text as it is written.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// A value, encoded: slashes in it don't separate.
    public mutating func appendInterpolation(_ value: any URLValue) {
      var segment = PathText()
      segment.append(value, slashes: .keep)
      if failure == nil { failure = segment.failure }
      text += segment.text.dropFirst()
    }
  }
}
