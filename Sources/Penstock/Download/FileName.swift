import CurlTransport

/// Names for files from what a server says, made safe.
enum FileName {
  /// The longest name in bytes, so that suffixes fit into 255.
  static let limit = 200

  /// From Content-Disposition (RFC 6266: `filename*` before `filename`), else from the final URL's path.
  static func from(_ response: Response) -> String {
    from(disposition: response.headers["Content-Disposition"], url: response.url)
  }

  static func from(disposition: String?, url: String) -> String {
    if let name = disposition.flatMap(ContentDisposition.fileName).map(safe), !name.isEmpty { return name }
    let path = url.prefix { $0 != "?" && $0 != "#" }
    let last = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3).last ?? ""
    let name = safe(ContentDisposition.percentDecoded(last))
    return name.isEmpty ? "download" : name
  }

  /// No separators, no control characters, none that turn the direction of writing, no leading dots, dashes,
  /// tildes or spaces, not too long; empty when nothing is left.
  ///
  /// It works on Unicode scalars: a slash with a combining mark is a character of its own, and a slash for the
  /// system.
  static func safe(_ name: String) -> String {
    var scalars: [Unicode.Scalar] = []
    for scalar in name.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .format: continue
      case .control, .lineSeparator, .paragraphSeparator: scalars.append("_")
      // What stands before a separator is somebody's folder, and no business of ours.
      default:
        if scalar == "/" || scalar == "\\" {
          scalars = []
        } else {
          scalars.append(":*?\"<>|".unicodeScalars.contains(scalar) ? "_" : scalar)
        }
      }
    }
    let start = scalars.drop { ".-~".unicodeScalars.contains($0) || $0.properties.isWhitespace }
    return shortened(trimmed(start))
  }

  private static func trimmed(_ scalars: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar> {
    var scalars = scalars
    while let last = scalars.last, last == "." || last.properties.isWhitespace { scalars.removeLast() }
    return scalars
  }

  /// Cut before the extension; where the cut falls, no character is left in half if that can be.
  private static func shortened(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    let name = text(scalars)
    guard name.utf8.count > limit else { return name }
    var ending = ""
    if let dot = scalars.lastIndex(of: "."), text(scalars[dot...]).utf8.count <= 20 {
      ending = text(scalars[dot...])
    }
    let room = limit - ending.utf8.count
    var stem = ""
    var count = 0
    for character in text(scalars.dropLast(ending.unicodeScalars.count)) {
      count += character.utf8.count
      if count > room { break }
      stem.append(character)
    }
    if stem.isEmpty {
      // One character of endless marks.
      var cut = scalars.prefix(room)
      while text(cut).utf8.count > room { cut.removeLast() }
      stem = text(cut)
    }
    return text(trimmed(Array(stem.unicodeScalars)[...])) + ending
  }

  private static func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  /// "name (1).ext", "name (2).ext", …; 0 is the name itself.
  static func numbered(_ path: String, _ number: Int) -> String {
    guard number > 0 else { return path }
    let name = DownloadPlace.split(path).name
    let folder = String(Substring(path.utf8.dropLast(name.utf8.count)))
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
      return "\(folder)\(name) (\(number))"
    }
    return "\(folder)\(name[..<dot]) (\(number))\(name[dot...])"
  }
}
