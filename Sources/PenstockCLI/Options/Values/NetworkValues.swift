import Penstock

/// `SCHEME://USER:PASSWORD@HOST:PORT`; nothing at all means no proxy.
enum ProxyValue {
  static func parse(_ text: String) throws(UsageError) -> NetworkSettings.ProxyChoice {
    if text.isEmpty { return .direct }
    do throws(HTTPError) {
      return .through(try ProxyServer(text))
    } catch {
      throw UsageError(error.message)
    }
  }
}

/// `USER:PASSWORD`; without a colon the password is empty.
enum CredentialsValue {
  static func parse(_ text: String) throws(UsageError) -> NetworkSettings.Credentials {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let user = parts.first, !text.isEmpty else { throw UsageError("a user name is missing") }
    return NetworkSettings.Credentials(user: String(user), password: parts.count > 1 ? String(parts[1]) : "")
  }
}

/// Names between commas or blanks.
enum HostListValue {
  static func parse(_ text: String) -> [String] {
    text.split { $0 == "," || $0 == " " }.map(String.init)
  }
}

/// `FILE[:PASSWORD]`, as in curl: `\:` is a colon of the file's name.
enum CertificateValue {
  static func parse(_ text: String) throws(UsageError) -> (file: String, password: String?) {
    var file: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), let next = rest.first,
        next == UInt8(ascii: ":") || next == UInt8(ascii: "\\")
      {
        file.append(next)
        rest = rest.dropFirst()
      } else if byte == UInt8(ascii: ":") {
        return (try name(file), String(decoding: rest, as: UTF8.self))
      } else {
        file.append(byte)
      }
    }
    return (try name(file), nil)
  }

  private static func name(_ bytes: [UInt8]) throws(UsageError) -> String {
    try PathValue.parse(String(decoding: bytes, as: UTF8.self))
  }
}

/// `sha256//BASE64`, several between semicolons, or the name of a file with a public key.
enum PinnedKeyValue {
  static func parse(_ text: String) throws(UsageError) -> [String] {
    guard text.hasPrefix("sha256//") else { return [try PathValue.parse(text)] }
    let pins = text.split(separator: ";").map(String.init)
    for pin in pins where !pin.hasPrefix("sha256//") || pin.utf8.count != 52 || !pin.hasSuffix("=") {
      throw UsageError("\(UsageError.quote(pin)) is not sha256//BASE64")
    }
    return pins
  }
}
