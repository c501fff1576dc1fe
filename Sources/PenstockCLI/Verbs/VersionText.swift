import Penstock

/// `penstock --version`: the libraries and the HTTP versions in use.
enum VersionText {
  static var line: String {
    let components = PenstockVersion.components.joined(separator: " ")
    return
      "penstock \(PenstockVersion.library) \(components) \(PenstockVersion.protocols.joined(separator: " "))\n"
  }
}
