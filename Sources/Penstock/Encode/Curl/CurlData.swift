import Glibc

/// One of curl's options for a body.
enum CurlData: Sendable {
  case text(String)
  /// Bytes of a file, read already; `joins`: an `&` goes in front when it isn't the first.
  case bytes([UInt8], joins: Bool)
  /// A file as it is.
  case file(String)

  private static let largest = 64 << 20

  init(_ value: String, isPath: Bool, cutsLineEnds: Bool = false, joins: Bool = true) throws(HTTPError) {
    guard isPath, value.hasPrefix("@") else {
      self = joins ? .text(value) : .bytes(Array(value.utf8), joins: false)
      return
    }
    let path = String(value.dropFirst())
    if path == "-" { throw ShellWords.failure("standard input can't be the body of a value") }
    if cutsLineEnds {
      self = .bytes(try Self.read(path).filter { $0 != 0x0D && $0 != 0x0A && $0 != 0 }, joins: joins)
    } else if joins {
      self = .file(path)
    } else {
      self = .bytes(try Self.read(path), joins: false)
    }
  }

  /// All parts, with `&` between them.
  static func joined(_ parts: [CurlData]) throws(HTTPError) -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, part) in parts.enumerated() {
      let more: [UInt8]
      var joins = true
      switch part {
      case .text(let text): more = Array(text.utf8)
      case .bytes(let read, let asks): (more, joins) = (read, asks)
      case .file(let path): more = try read(path)
      }
      if index > 0, joins { bytes.append(UInt8(ascii: "&")) }
      bytes += more
    }
    return bytes
  }

  static func joinedText(_ parts: [CurlData]) throws(HTTPError) -> String {
    String(decoding: try joined(parts), as: UTF8.self)
  }

  /// `content`, `=content`, `name=content`, `@file` and `name@file`, the content percent-encoded.
  static func urlEncoded(_ text: String) throws(HTTPError) -> String {
    let at = text.firstIndex { $0 == "=" || $0 == "@" }
    guard let at else { return PercentEncoding.encode(text.utf8) }
    let name = text[..<at]
    let rest = String(text[text.index(after: at)...])
    let content = text[at] == "@" ? PercentEncoding.encode(try read(rest)) : PercentEncoding.encode(rest.utf8)
    return name.isEmpty ? content : name + "=" + content
  }

  static func read(_ path: String) throws(HTTPError) -> [UInt8] {
    func failure(_ number: Int32) -> HTTPError {
      HTTPError(
        .readFailed, phase: .file,
        message: "the file \"\(path)\" can't be read: \(FileFailure.text(number))")
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    let number = SmallFile.append(to: &bytes, from: descriptor, limit: largest)
    guard number == 0 else { throw failure(number) }
    return bytes
  }
}

/// What curl's options add to a URL.
enum CurlURLQuery {
  /// Whether the URL's path is empty or ends in a slash: curl uploads a file to its own name there.
  static func namesFolder(_ url: String) -> Bool {
    let path = url.prefix { $0 != "#" && $0 != "?" }
    guard let authority = path.firstRange(of: "://") else { return path.hasSuffix("/") }
    return path.hasSuffix("/") || !path[authority.upperBound...].contains("/")
  }

  /// With more items in the query, and the file's name where an upload goes to a URL whose path ends in a slash.
  static func adding(_ items: [String], to url: String, uploading file: String?) throws(HTTPError) -> String {
    let target = url.prefix { $0 != "#" }
    let fragment = url[target.endIndex...]
    var path = String(target.prefix { $0 != "?" })
    var query = String(target.dropFirst(path.count))
    if let file, file != "-", namesFolder(url), let name = file.split(separator: "/").last {
      path += (path.hasSuffix("/") ? "" : "/") + (try CurlData.urlEncoded("=" + name))
    }
    for item in items where !item.isEmpty {
      query += query.isEmpty ? "?" : query == "?" || query.hasSuffix("&") ? "" : "&"
      query += item
    }
    return path + query + fragment
  }
}

extension CurlFormField {
  /// The part of a form; a file is opened when the request is sent.
  func part() throws(HTTPError) -> MultipartForm.Part {
    switch content {
    case .value(let value):
      return MultipartForm.Part(name, fileName: fileName, body: .string(value).typed(type))
    case .content(let path):
      return MultipartForm.Part(name, fileName: fileName, body: .bytes(try CurlData.read(path)).typed(type))
    case .file(let path):
      if path == "-" { throw ShellWords.failure("standard input can't be a part of a value") }
      let shown = fileName ?? path.split(separator: "/").last.map(String.init) ?? path
      return MultipartForm.Part(
        name, fileName: shown, body: .file(path).typed(type ?? MultipartForm.contentType(ofFile: shown)))
    }
  }
}
