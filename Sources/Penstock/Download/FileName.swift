import CurlTransport

/// Names for files from what a server says, made safe.
enum FileName {
  /// The longest name in bytes, so that suffixes fit into 255.
  static let limit = 200

  /// From Content-Disposition (RFC 6266: `filename*` before `filename`), else from the final URL's path.
  static func from(_ response: Response) -> String {
    if let field = response.headers["Content-Disposition"],
      let name = ContentDisposition.fileName(field).map(safe), !name.isEmpty
    {
      return name
    }
    let path = response.url.prefix { $0 != "?" && $0 != "#" }
    let last = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3).last ?? ""
    let name = safe(ContentDisposition.percentDecoded(last))
    return name.isEmpty ? "download" : name
  }

  /// No separators, no control characters, no leading dots, dashes or spaces, not too long.
  static func safe(_ name: String) -> String {
    // What stands before a separator is somebody's folder, and no business of ours.
    let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
    var scalars = String.UnicodeScalarView()
    for scalar in last.unicodeScalars {
      let isControl = scalar.properties.generalCategory == .control
      let isFormat = scalar.properties.generalCategory == .format
      if isFormat { continue }
      scalars.append(isControl || ":*?\"<>|".unicodeScalars.contains(scalar) ? "_" : scalar)
    }
    var text = Substring(String(scalars))
    while let first = text.first, first == "." || first == "-" || first == " " || first == "~" {
      text.removeFirst()
    }
    while let end = text.last, end == " " || end == "." { text.removeLast() }
    return shortened(String(text))
  }

  /// Cut before the extension, at a character.
  private static func shortened(_ name: String) -> String {
    guard name.utf8.count > limit else { return name }
    let dot = name.lastIndex(of: ".")
    let suffix = dot.map { String(name[$0...]) } ?? ""
    let ending = suffix.utf8.count <= 20 ? suffix : ""
    var stem = name.dropLast(ending.count)
    while stem.utf8.count + ending.utf8.count > limit, !stem.isEmpty { stem.removeLast() }
    return stem + ending
  }

  /// "name (1).ext", "name (2).ext", …
  static func numbered(_ path: String, _ number: Int) -> String {
    let (directory, name) = DownloadPlace.split(path)
    let prefix = path.contains("/") ? (directory == "/" ? "/" : directory + "/") : ""
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
      return "\(prefix)\(name) (\(number))"
    }
    return "\(prefix)\(name[..<dot]) (\(number))\(name[dot...])"
  }
}
