import Penstock

extension Settings {
  /// Fails when a file that is read later (`-T`, `--cacert`) can't be.
  func checkFiles() throws(CommandFailure) {
    if case .file(let path) = upload { try InputFile.check(path) }
    if let authorityFile { try InputFile.check(authorityFile) }
    try NetworkBuilder.checkFiles(network)
    for path in http.cookieFiles where !path.isEmpty { try InputFile.check(path) }
    for field in http.form {
      switch field.content {
      case .file(let path), .content(let path): if path != "-" { try InputFile.check(path) }
      case .value: break
      }
    }
  }

  /// A large file that `--data-binary @FILE` sends as it is: read when it is sent, not kept.
  var streamedDataFile: String? {
    guard data.count == 1, let part = data.first, !part.cutsLineEnds, !dataInQuery,
      case .input(.file(let path)) = part.content, InputFile.isLarge(path)
    else { return nil }
    return path
  }

  /// What `-d` and its kin add up to; files and standard input are read here.
  func loadData() throws(CommandFailure) -> [UInt8] {
    if let path = streamedDataFile {
      try InputFile.check(path)
      return []
    }
    var bytes: [UInt8] = []
    for (position, part) in data.enumerated() {
      if position > 0, part.joinsWithAmpersand { bytes.append(UInt8(ascii: "&")) }
      switch part.content {
      case .text(let text): bytes += text.utf8
      case .input(let source):
        let read = try InputFile.read(source)
        bytes += part.cutsLineEnds ? read.filter { $0 != 0x0D && $0 != 0x0A && $0 != 0 } : read
      }
    }
    return bytes
  }
}
