import Glibc

/// Reading certificates in PEM form (RFC 7468) from files and directories.
enum PEMFiles {
  /// The largest file that is read: a system's bundle has some 200 KiB.
  static let largest = 16 << 20

  /// The bytes of a file; nil and `errno` when it can't be read.
  static func read(_ path: String) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= largest {
      let count = unsafe Glibc.read(descriptor, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      bytes += buffer[..<count]
    }
    errno = EFBIG
    return nil
  }

  /// The certificates in the files of a directory, each once (a hashed directory names each twice); nil and `errno`
  /// when it can't be read.
  static func readDirectory(_ path: String) -> [[UInt8]]? {
    guard let directory = unsafe opendir(path) else { return nil }
    defer { _ = unsafe closedir(directory) }
    var names: [String] = []
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    var seen: Set<[UInt8]> = []
    var certificates: [[UInt8]] = []
    for name in names.sorted() {
      guard let bytes = read(path + "/" + name) else { continue }
      for certificate in self.certificates(in: bytes) where seen.insert(certificate).inserted {
        certificates.append(certificate)
      }
    }
    errno = 0
    return certificates
  }

  /// The certificates in a text, each from its first dash to its last, with a line end; what stands between them is
  /// for people.
  static func certificates(in bytes: [UInt8]) -> [[UInt8]] {
    var found: [[UInt8]] = []
    for kind in ["CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE"] {
      let begin = Array("-----BEGIN \(kind)-----".utf8)
      let end = Array("-----END \(kind)-----".utf8)
      var rest = bytes[...]
      while let start = index(of: begin, in: rest), let stop = index(of: end, in: rest[start...]) {
        found.append(bytes[start..<(stop + end.count)] + [0x0A])
        rest = rest[(stop + end.count)...]
      }
    }
    return found
  }

  private static func index(of needle: [UInt8], in hay: ArraySlice<UInt8>) -> Int? {
    var position = hay.startIndex
    while position + needle.count <= hay.endIndex {
      guard let dash = hay[position...].firstIndex(of: needle[0]), dash + needle.count <= hay.endIndex else {
        return nil
      }
      if hay[dash..<(dash + needle.count)].elementsEqual(needle) { return dash }
      position = dash + 1
    }
    return nil
  }
}
