import FoundationEssentials

extension Call {
  /// Sets a value as the body: encoded by the call's encoder, else the client's. `Data`, `[UInt8]` and `String` go as
  /// they are, as octets and as plain text.
  public func body<Value: Encodable & Sendable>(_ value: Value) -> Call {
    switch value {
    case let bytes as [UInt8]: return body(bytes: bytes)
    case let data as Data: return body(bytes: data)
    case let text as String: return body(text: text)
    default: return with { $0.body = { (encoder) throws(HTTPError) in try Self.encode(value, encoder) } }
    }
  }

  /// Sets a value as the body, encoded in this way whatever the call's encoder is.
  public func body<Value: Encodable & Sendable>(_ value: Value, as encoder: any BodyEncoder) -> Call {
    with { $0.body = { (_) throws(HTTPError) in try Self.encode(value, encoder) } }
  }

  private static func encode<Value: Encodable>(
    _ value: Value, _ encoder: any BodyEncoder
  ) throws(HTTPError) -> RequestBody {
    do {
      return try encoder.encode(value)
    } catch {
      throw EncodingFailure.error(error, type: Value.self, what: "body")
    }
  }

  /// Sets bytes as the body.
  public func body(bytes: some Sequence<UInt8> & Sendable, contentType: String = "application/octet-stream")
    -> Call
  {
    body(RequestBody.bytes(bytes).typed(contentType))
  }

  /// Sets a text as the body, in UTF-8.
  public func body(text: String, contentType: String = "text/plain; charset=utf-8") -> Call {
    body(RequestBody.string(text).typed(contentType))
  }

  /// Sets a file as the body, streamed when the call is made.
  public func body(file path: String, contentType: String = "application/octet-stream") -> Call {
    body(RequestBody.file(path).typed(contentType))
  }

  /// Sets a body that is made already, such as a stream, with its own content type or this one.
  public func body(_ body: RequestBody, contentType: String? = nil) -> Call {
    let body = contentType.map { body.typed($0) } ?? body
    return with { $0.body = { (_) throws(HTTPError) in body } }
  }

  /// Sets a form as the body: names and values in their order, those that are nil left out.
  public func form(_ fields: KeyValuePairs<String, (any URLValue)?>) -> Call {
    let items = fields.compactMap { QueryItem($0.key, $0.value) }
    return with {
      $0.body = { (_) throws(HTTPError) in
        if let item = items.first(where: { $0.unwritable != nil }) {
          throw HTTPError(
            .encodingFailed, phase: .queue,
            message: "the field \"\(item.name)\" of the form can't be written: \(item.unwritable ?? "")")
        }
        return .form(items.map { ($0.name, $0.value ?? "") })
      }
    }
  }

  /// Sets a model's properties as a form, by the rules of a query encoding.
  @_disfavoredOverload
  public func form<Model: Encodable & Sendable>(_ model: Model, _ encoding: QueryEncoding = .standard) -> Call
  {
    body(model, as: FormEncoder(encoding))
  }

  /// Sets a form of several parts as the body.
  public func multipart(_ form: MultipartForm) -> Call { body(.multipart(form)) }

  /// Takes the body away.
  public func withoutBody() -> Call { with { $0.body = nil } }

  /// Encodes bodies in this way, wherever it stands in the chain.
  public func bodyEncoder(_ encoder: any BodyEncoder) -> Call { with { $0.encoder = encoder } }

  /// Decodes answers in this way.
  public func bodyDecoder(_ decoder: any BodyDecoder) -> Call { with { $0.decoder = decoder } }

  /// Encodes bodies as JSON of this kind; answers are decoded as before.
  public func encoding(_ coding: JSONCoding) -> Call { bodyEncoder(coding) }

  /// Decodes answers as JSON of this kind; bodies are encoded as before.
  public func decoding(_ coding: JSONCoding) -> Call { bodyDecoder(coding) }

  /// Encodes and decodes JSON of this kind.
  public func coding(_ coding: JSONCoding) -> Call { bodyEncoder(coding).bodyDecoder(coding) }
}
