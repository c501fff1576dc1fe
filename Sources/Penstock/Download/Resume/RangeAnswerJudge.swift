import StreamCore

/// Why a download begins again at its first byte.
public enum RestartReason: String, Sendable, Hashable, CaseIterable {
  /// The server answered the range with the whole (200).
  case rangeIgnored = "range_ignored"
  /// The resource has another validator now.
  case changed
  /// The whole has another length now.
  case totalChanged = "total_changed"
  /// Another range came than was asked for.
  case otherRange = "other_range"
  /// The part came with a content coding.
  case encoded
  /// The part came as multipart/byteranges.
  case multipart
  /// The part came without a usable Content-Range.
  case noContentRange = "no_content_range"
  /// The server can't serve what is missing (416).
  case notSatisfiable = "not_satisfiable"
  /// What was there has no strong validator, and resuming without one wasn't asked for.
  case noValidator = "no_validator"
  /// What was there can't be used: its record is missing, damaged or doesn't fit.
  case unusablePart = "unusable_part"
}

/// Judges the answer to a request for a range: what may be done with its body. Pure.
///
/// Nothing of an answer is believed that it doesn't say: a byte is only written to where Content-Range puts it,
/// and only while total and validator are those of the bytes that are there (RFC 9110 §14, §15.3.7, §15.5.17).
struct RangeAnswerJudge: Sendable {
  enum Verdict: Sendable, Hashable {
    /// The body begins `skip` bytes before the asked byte and ends after `last`.
    case append(skip: Int64, last: Int64, total: Int64?)
    /// The body is the whole, from its first byte.
    case whole(RestartReason?)
    /// There is nothing more: what is there is the whole.
    case complete
    /// The body is no use: ask again from the first byte.
    case startOver(RestartReason)
    /// Neither a part nor the whole: the status is refused.
    case refused
  }

  /// The first byte that was asked for; nil: no range was asked for.
  var first: Int64?
  /// What is known of the whole.
  var total: Int64?
  var validator: EntityValidator?
  /// Whether any byte is there already, so that the whole is a restart.
  var hasBytes: Bool

  func judge(status: HTTPStatus, headers: HTTPFields) -> Verdict {
    switch status.code {
    case 206: return partial(headers)
    case 416 where first != nil: return unsatisfiable(headers)
    case 200..<300: return whole(headers)
    default: return .refused
    }
  }

  private func whole(_ headers: HTTPFields) -> Verdict {
    guard first != nil, hasBytes else { return .whole(nil) }
    return .whole(isChanged(headers) ? .changed : .rangeIgnored)
  }

  private func isChanged(_ headers: HTTPFields) -> Bool {
    validator.map { $0.contradicts(EntityValidator(headers)) } ?? false
  }

  private func partial(_ headers: HTTPFields) -> Verdict {
    guard let asked = first else { return .refused }
    if let type = headers["Content-Type"], Self.isMultipart(type) { return .startOver(.multipart) }
    for coding in headers[all: "Content-Encoding"] where !Self.isIdentity(coding) {
      return .startOver(.encoded)
    }
    let ranges = headers[all: "Content-Range"]
    guard ranges.count == 1,
      case .satisfied(let first, let last, let complete)? = ContentRange(ranges[0])
    else { return .startOver(.noContentRange) }
    if isChanged(headers) { return .startOver(.changed) }
    if let complete, let total, complete != total { return .startOver(.totalChanged) }
    if let total, last >= total { return .startOver(.totalChanged) }
    guard first <= asked, asked <= last else { return .startOver(.otherRange) }
    // A length that contradicts the range says that one of them lies.
    if let length = headers["Content-Length"].flatMap({ DecimalDigits.value($0.utf8) }),
      length != last - first + 1
    {
      return .startOver(.otherRange)
    }
    return .append(skip: asked - first, last: last, total: complete ?? total)
  }

  private func unsatisfiable(_ headers: HTTPFields) -> Verdict {
    guard case .unsatisfied(let complete)? = headers["Content-Range"].flatMap({ ContentRange($0) }) else {
      return .startOver(.notSatisfiable)
    }
    if isChanged(headers) { return .startOver(.changed) }
    if let total, total != complete { return .startOver(.totalChanged) }
    return first == complete && complete > 0 ? .complete : .startOver(.notSatisfiable)
  }

  private static func isMultipart(_ type: String) -> Bool {
    type.lowercased().drop { $0 == " " || $0 == "\t" }.hasPrefix("multipart/")
  }

  private static func isIdentity(_ coding: String) -> Bool {
    let coding = FieldSyntax.trimmed(coding)
    return coding.isEmpty || coding.lowercased() == "identity"
  }
}
