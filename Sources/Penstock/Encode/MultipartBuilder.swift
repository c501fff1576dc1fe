/// Lists the parts of a form; those that are nil are left out.
@resultBuilder
public enum MultipartBuilder {
  /// One part, or none.
  public static func buildExpression(_ part: MultipartForm.Part?) -> [MultipartForm.Part] {
    part.map { [$0] } ?? []
  }
  /// Several parts.
  public static func buildExpression(_ parts: [MultipartForm.Part]) -> [MultipartForm.Part] { parts }
  /// One after another.
  public static func buildBlock(_ parts: [MultipartForm.Part]...) -> [MultipartForm.Part] {
    parts.flatMap { $0 }
  }
  /// What an `if` without `else` gives.
  public static func buildOptional(_ part: [MultipartForm.Part]?) -> [MultipartForm.Part] { part ?? [] }
  /// The first branch.
  public static func buildEither(first part: [MultipartForm.Part]) -> [MultipartForm.Part] { part }
  /// The second branch.
  public static func buildEither(second part: [MultipartForm.Part]) -> [MultipartForm.Part] { part }
  /// What a loop gives.
  public static func buildArray(_ parts: [[MultipartForm.Part]]) -> [MultipartForm.Part] {
    parts.flatMap { $0 }
  }
}

extension MultipartForm {
  /// A form of these parts.
  ///
  /// ```swift
  /// let form = MultipartForm {
  ///   MultipartForm.Part.value("title", "A cat")
  ///   MultipartForm.Part.file("picture", path: "/tmp/cat.jpg")
  /// }
  /// ```
  public init(@MultipartBuilder _ parts: () -> [Part]) {
    self.init()
    self.parts = parts()
  }
}

extension MultipartForm.Part {
  /// A plain value; nil where it is nil or has no text, so that a builder leaves it out.
  public static func value(_ name: String, _ value: (any URLValue)?) -> MultipartForm.Part? {
    value?.urlText.map { MultipartForm.Part(name, body: .string($0)) }
  }

  /// A file, which is opened and measured when the request is sent and read as it goes out.
  ///
  /// - Parameters:
  ///   - fileName: what the server is told; the last part of the path unless given.
  ///   - contentType: a guess from the name's ending unless given.
  public static func file(
    _ name: String, path: String, fileName: String? = nil, contentType: String? = nil
  ) -> MultipartForm.Part {
    let shown = fileName ?? path.split(separator: "/").last.map(String.init) ?? path
    let type = contentType ?? MultipartForm.contentType(ofFile: shown)
    return MultipartForm.Part(name, fileName: shown, body: .file(path).typed(type))
  }

  /// Bytes as a file.
  public static func file(
    _ name: String, fileName: String, bytes: some Sequence<UInt8>, contentType: String? = nil
  ) -> MultipartForm.Part {
    let type = contentType ?? MultipartForm.contentType(ofFile: fileName)
    return MultipartForm.Part(name, fileName: fileName, body: .bytes(bytes).typed(type))
  }
}
