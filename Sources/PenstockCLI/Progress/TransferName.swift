import Penstock

/// What a transfer is called on the screen.
enum TransferName {
  /// The last part of a URL's path, or its host.
  static func of(url: String) -> String {
    let plain = Redaction.url(url).prefix { $0 != "?" && $0 != "#" }
    let parts = plain.split(separator: "/")
    return parts.last.map(String.init) ?? String(plain)
  }

  /// The name of a file without its folder.
  static func of(file path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }
}
