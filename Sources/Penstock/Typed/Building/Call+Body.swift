import FoundationEssentials

extension Call {
  /// Sets a value as the body: encoded by the call's encoder, else the client's. `Data`, `[UInt8]` and `String` go as
  /// they are, as octets and as plain text.
  public func body<Value: Encodable & Sendable>(_ value: Value) -> Call {
    switch value {
    case let bytes as [UInt8]: return body(bytes: bytes)
    case let data as Data: return body(bytes: data)
    case let text as String: return body(text: text)
    default: return with { $0.body = { encoder in try encoder.encode(value) } }
    }
  }

  /// Sets a value as the body, encoded in this way whatever the call's encoder is.
  public func body<Value: Encodable & Sendable>(_ value: Value, as encoder: any BodyEncoder) -> Call {
    with { $0.body = { _ in try encoder.encode(value) } }
  }

  /// Sets bytes as the body.
  public func body(bytes: some Sequence<UInt8> & Sendable, contentType: String = "application/octet-stream")
    -> Call
  {
    body(EncodedContent(.bytes(bytes), contentType: contentType))
  }

  /// Sets a text as the body, in UTF-8.
  public func body(text: String, contentType: String = "text/plain; charset=utf-8") -> Call {
    body(EncodedContent(.string(text), contentType: contentType))
  }

  /// Sets a file as the body, streamed when the call is made.
  public func body(file path: String, contentType: String = "application/octet-stream") -> Call {
    body(EncodedContent(.file(path), contentType: contentType))
  }

  /// Sets a body that is made already: a stream, a form, parts.
  public func body(_ body: EncodedContent) -> Call { with { $0.body = { _ in body } } }

  /// Sets a body that is made already: a stream, a form, parts.
  public func body(_ body: RequestBody, contentType: String? = nil) -> Call {
    self.body(EncodedContent(body, contentType: contentType))
  }

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
