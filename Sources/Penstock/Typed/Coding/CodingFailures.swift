import FoundationEssentials

/// Turns what encoders throw into one sentence that names the place.
enum EncodingFailure {
  static func error(_ error: any Error, type: Any.Type, what: String = "value") -> HTTPError {
    if let error = error as? HTTPError { return error }
    var reason = "\(error)"
    if case EncodingError.invalidValue(let value, let context)? = error as? EncodingError {
      let path = CodingPathText.text(context.codingPath)
      reason = path.isEmpty ? "" : "at \"\(path)\": "
      reason += "\(Swift.type(of: value)): \(context.debugDescription)"
    }
    return HTTPError(
      .encodingFailed, phase: .queue, message: "the \(what) of type \(type) can't be encoded: \(reason)",
      advice: "Nothing was sent")
  }
}

/// A coding path for people: `data.items[3].name`.
enum CodingPathText {
  static func text(_ path: [any CodingKey]) -> String {
    var text = ""
    for key in path {
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : "." + key.stringValue
      }
    }
    return text
  }
}

/// Turns what decoders throw into an error that says where.
enum DecodingFailureText {
  static func failure(_ error: any Error, body: [UInt8]) -> DecodingFailure {
    guard let error = error as? DecodingError else {
      return DecodingFailure(
        codingPath: "", reason: "\(error)", byteOffset: nil, excerpt: excerpt(body, around: nil))
    }
    let context: DecodingError.Context
    var path: [any CodingKey]
    var reason: String
    switch error {
    case .typeMismatch(let type, let given):
      context = given
      path = given.codingPath
      reason = "\(type) was expected"
    case .valueNotFound(let type, let given):
      context = given
      path = given.codingPath
      reason = "\(type) was expected, but there is null"
    case .keyNotFound(let key, let given):
      context = given
      path = given.codingPath
      reason = "the member \"\(key.stringValue)\" is missing"
    case .dataCorrupted(let given):
      context = given
      path = given.codingPath
      reason = given.debugDescription
    @unknown default:
      return DecodingFailure(
        codingPath: "", reason: "\(error)", byteOffset: nil, excerpt: excerpt(body, around: nil))
    }
    var offset = syntaxOffset(context.underlyingError)
    if offset != nil, let detail = syntaxReason(context.underlyingError) { reason = detail }
    if offset == nil, context.underlyingError == nil || !path.isEmpty {
      offset = JSONLocator.offset(of: path, in: body)
    }
    if case .keyNotFound(let key, _) = error { path.append(key) }
    return DecodingFailure(
      codingPath: CodingPathText.text(path), reason: reason, byteOffset: offset,
      excerpt: excerpt(body, around: offset))
  }

  private static func syntaxOffset(_ error: (any Error)?) -> Int? {
    (error as? CocoaError)?.userInfo["NSJSONSerializationErrorIndex"] as? Int
  }

  private static func syntaxReason(_ error: (any Error)?) -> String? {
    (error as? CocoaError)?.userInfo["NSDebugDescription"] as? String
  }

  /// At most 160 bytes: some before the place, more from it on.
  static func excerpt(_ body: [UInt8], around offset: Int?) -> String {
    let start = max(0, min(body.count, offset ?? 0) - 40)
    let part = body[start...].prefix(160)
    return String(decoding: part, as: UTF8.self)
  }

  static func error(_ error: any Error, type: Any.Type, raw: RawResponse) -> HTTPError {
    if let error = error as? HTTPError { return error }
    return self.error(failure(error, body: raw.bytes), type: type, raw: raw)
  }

  static func error(_ failure: DecodingFailure, type: Any.Type, raw: RawResponse) -> HTTPError {
    var message = "the body can't be decoded as \(type)"
    if !failure.codingPath.isEmpty { message += " at \"\(failure.codingPath)\"" }
    if let offset = failure.byteOffset { message += ", byte \(offset)" }
    message += ": \(failure.reason)"
    return raw.error(
      .decodingFailed, message,
      "Compare the type with what the server sends; the error's `decoding` holds an excerpt"
    ).adding { $0.decoding = failure }
  }
}
