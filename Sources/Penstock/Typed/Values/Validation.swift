/// What an answer must be like before its value is read: status, then content type, then checks of the caller's own.
///
/// ```swift
/// call.validate(.statuses(200, 404).and(.contentType("application/json")))
/// ```
///
/// A status that isn't accepted throws `HTTPError.Kind.httpStatus` with head and a bounded excerpt of the body; the
/// rest throws `HTTPError.Kind.validationFailed`.
public struct Validation: Sendable {
  /// Which statuses are accepted.
  public struct Statuses: Sendable {
    let accepts: @Sendable (HTTPStatus) -> Bool

    /// Those of a range.
    public static func range(_ range: Range<Int>) -> Statuses { Statuses { range.contains($0.code) } }
    /// Those of a range, its end included.
    public static func range(_ range: ClosedRange<Int>) -> Statuses { Statuses { range.contains($0.code) } }
    /// These alone.
    public static func oneOf(_ codes: Set<Int>) -> Statuses { Statuses { codes.contains($0.code) } }
    /// Those that a closure accepts.
    public static func matching(_ accepts: @escaping @Sendable (HTTPStatus) -> Bool) -> Statuses {
      Statuses(accepts: accepts)
    }
    /// 200 to 299.
    public static let success = range(200..<300)
    /// Any.
    public static let any = Statuses { _ in true }

    /// These and those.
    public func or(_ other: Statuses) -> Statuses {
      Statuses { accepts($0) || other.accepts($0) }
    }
  }

  /// One check: throws to refuse. The bytes are those of the whole body.
  public typealias Check = @Sendable (ResponseHead, [UInt8]) throws -> Void

  /// Which statuses are accepted; nil leaves it to the client, and there to `success`.
  public var statuses: Statuses?
  /// Which content types are accepted, such as `application/json`, `text/*`, `*/*+json`; nil leaves it to the client,
  /// and there to any. An empty body needs none.
  public var contentTypes: [String]?
  /// Further checks, all of which must pass: the client's first.
  public var checks: [Check] = []

  /// Leaves everything as it is.
  public init() {}

  /// Accepts these statuses alone.
  public static func statuses(_ statuses: Statuses) -> Validation {
    var validation = Validation()
    validation.statuses = statuses
    return validation
  }

  /// Accepts these statuses alone.
  public static func statuses(_ codes: Int...) -> Validation { statuses(.oneOf(Set(codes))) }

  /// Accepts a range of statuses alone.
  public static func statuses(_ range: Range<Int>) -> Validation { statuses(.range(range)) }

  /// Accepts these content types alone.
  public static func contentType(_ types: String...) -> Validation {
    var validation = Validation()
    validation.contentTypes = types
    return validation
  }

  /// A check of your own; what it throws refuses the answer.
  public static func check(_ check: @escaping Check) -> Validation {
    var validation = Validation()
    validation.checks = [check]
    return validation
  }

  /// Both: what the other says about statuses and content types wins, checks add up.
  public func and(_ other: Validation) -> Validation {
    if other.isEmpty { return self }
    var both = self
    both.statuses = other.statuses ?? statuses
    both.contentTypes = other.contentTypes ?? contentTypes
    both.checks += other.checks
    return both
  }

  private var isEmpty: Bool { statuses == nil && contentTypes == nil && checks.isEmpty }

  func accepts(_ status: HTTPStatus) -> Bool { (statuses ?? .success).accepts(status) }

  /// Why a content type isn't accepted; nil where it is.
  func refusal(of headers: HTTPFields) -> String? {
    guard let contentTypes else { return nil }
    let given = headers["Content-Type"]
    if let type = given.flatMap(MediaType.init), contentTypes.contains(where: type.matches) { return nil }
    return
      "the content type \(given.map { "\"\($0.prefix(80))\"" } ?? "is missing, which") isn't accepted here"
  }

  func check(_ raw: RawResponse) throws(HTTPError) {
    if !raw.bytes.isEmpty, let why = refusal(of: raw.headers) {
      throw raw.error(
        .validationFailed, why, "Accepted: " + (contentTypes ?? []).joined(separator: ", "))
    }
    for check in checks {
      do {
        try check(raw.head, raw.bytes)
      } catch {
        if let error = error as? HTTPError { throw error }
        throw raw.error(.validationFailed, "the answer was refused by a check of the call: \(error)", nil)
          .adding { $0.apiError = error }
      }
    }
  }
}
