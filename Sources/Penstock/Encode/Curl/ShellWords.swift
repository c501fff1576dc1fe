/// The words of a POSIX shell command: split with quotes read, and quoted again. Nothing is expanded or run.
package enum ShellWords {
  /// Splits one simple command; single, double and `$'…'` quotes, backslashes and continued lines are read.
  ///
  /// - Throws: `HTTPError.Kind.invalidConfiguration` for an open quote, and for what only a shell can do (variables,
  ///   substitutions, pipes, redirections, several commands).
  package static func split(_ text: String) throws(HTTPError) -> [String] {
    var reader = Reader(Array(text.utf8))
    return try reader.words()
  }

  /// A word as a shell reads it back: bare where nothing in it is special, else in single quotes.
  package static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
          UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "%"), UInt8(ascii: "+"),
          UInt8(ascii: ","), UInt8(ascii: "="):
          true
        default: false
        }
      }
    if isPlain { return word }
    // Bytes, so that no combining mark hides a quote.
    var bytes: [UInt8] = [UInt8(ascii: "'")]
    for byte in word.utf8 {
      if byte == UInt8(ascii: "'") { bytes += "'\\''".utf8 } else { bytes.append(byte) }
    }
    bytes.append(UInt8(ascii: "'"))
    return String(decoding: bytes, as: UTF8.self)
  }

  static func failure(_ why: String, _ advice: String? = nil) -> HTTPError {
    HTTPError(
      .invalidConfiguration, phase: .queue, message: "the curl command can't be read: \(why)", advice: advice)
  }

  private struct Reader {
    private let bytes: [UInt8]
    private var position = 0
    private var word: [UInt8]?
    private var all: [String] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func take() -> UInt8? {
      guard position < bytes.count else { return nil }
      defer { position += 1 }
      return bytes[position]
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func add(_ byte: UInt8) { word = (word ?? []) + [byte] }

    private mutating func endWord() {
      if let word { all.append(String(decoding: word, as: UTF8.self)) }
      word = nil
    }

    mutating func words() throws(HTTPError) -> [String] {
      while let byte = take() {
        switch byte {
        case 0x20, 0x09, 0x0D: endWord()
        case 0x0A:
          endWord()
          if bytes[position...].contains(where: { $0 > 0x20 }), !all.isEmpty {
            throw failure("there are several commands", "Give one; end continued lines with a backslash")
          }
        case UInt8(ascii: "\\"):
          guard let escaped = take() else { throw failure("it ends with a backslash") }
          if escaped == 0x0D, next == 0x0A { _ = take() } else if escaped != 0x0A { add(escaped) }
        case UInt8(ascii: "'"): try single()
        case UInt8(ascii: "\""): try double()
        case UInt8(ascii: "$"):
          if next == UInt8(ascii: "'") {
            _ = take()
            try ansi()
          } else {
            try refuseExpansion()
            add(byte)
          }
        case UInt8(ascii: "#") where word == nil:
          throw failure("there is a comment", "Quote what begins with #")
        case UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "<"),
          UInt8(ascii: ">"), UInt8(ascii: "("), UInt8(ascii: ")"):
          throw failure(
            "an unquoted \(String(UnicodeScalar(byte))) is for the shell",
            "Quote it, or give one plain command")
        default: add(byte)
        }
      }
      endWord()
      return all
    }

    private func refuseExpansion() throws(HTTPError) {
      guard let next else { return }
      switch next {
      case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "_"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        throw failure("variables and substitutions aren't expanded", "Write the value, or use single quotes")
      default: break
      }
    }

    private mutating func single() throws(HTTPError) {
      word = word ?? []
      while let byte = take() {
        if byte == UInt8(ascii: "'") { return }
        add(byte)
      }
      throw failure("a single quote isn't closed")
    }

    private mutating func double() throws(HTTPError) {
      word = word ?? []
      while let byte = take() {
        switch byte {
        case UInt8(ascii: "\""): return
        case UInt8(ascii: "`"): throw failure("variables and substitutions aren't expanded")
        case UInt8(ascii: "$"):
          try refuseExpansion()
          add(byte)
        case UInt8(ascii: "\\"):
          guard let escaped = take() else { break }
          switch escaped {
          case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"): add(escaped)
          case 0x0A: break
          default:
            add(byte)
            add(escaped)
          }
        default: add(byte)
        }
      }
      throw failure("a double quote isn't closed")
    }

    /// `$'…'` as bash has it; browsers write it in "copy as cURL".
    private mutating func ansi() throws(HTTPError) {
      word = word ?? []
      while let byte = take() {
        if byte == UInt8(ascii: "'") { return }
        guard byte == UInt8(ascii: "\\") else {
          add(byte)
          continue
        }
        switch take() {
        case UInt8(ascii: "n"): add(0x0A)
        case UInt8(ascii: "r"): add(0x0D)
        case UInt8(ascii: "t"): add(0x09)
        case UInt8(ascii: "a"): add(0x07)
        case UInt8(ascii: "b"): add(0x08)
        case UInt8(ascii: "f"): add(0x0C)
        case UInt8(ascii: "v"): add(0x0B)
        case UInt8(ascii: "e"): add(0x1B)
        case UInt8(ascii: "x"): add(UInt8(truncatingIfNeeded: try number(2)))
        case UInt8(ascii: "u"): try scalar(try number(4))
        case UInt8(ascii: "U"): try scalar(try number(8))
        case let other?: add(other)
        case nil: throw failure("a quote isn't closed")
        }
      }
      throw failure("a quote isn't closed")
    }

    private mutating func number(_ most: Int) throws(HTTPError) -> UInt32 {
      var value: UInt32 = 0
      var count = 0
      while count < most, let byte = next, let digit = Character(UnicodeScalar(byte)).hexDigitValue {
        value = value << 4 | UInt32(digit)
        position += 1
        count += 1
      }
      if count == 0 { throw failure("an escape has no digits") }
      return value
    }

    private mutating func scalar(_ value: UInt32) throws(HTTPError) {
      guard let scalar = UnicodeScalar(value) else { throw failure("an escape is no character") }
      word = (word ?? []) + Array(String(scalar).utf8)
    }
  }
}
