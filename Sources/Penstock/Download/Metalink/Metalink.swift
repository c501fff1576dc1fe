import StreamCore

/// A Metalink document (RFC 5854): where files are to be had, and what they must be.
///
/// ```swift
/// let metalink = try Metalink(parsing: bytes)
/// for file in metalink.files { client.download(file, into: "/data") }
/// ```
public struct Metalink: Sendable, Hashable {
  /// One file.
  public struct File: Sendable, Hashable {
    /// The name as the document has it; see `safeName`.
    public var name: String
    /// Its size, where it is told.
    public var size: Int64?
    /// What it must be, the strongest first.
    public var digests: [Digest] = []
    /// Where it is to be had over http or https, the best first.
    public var urls: [String] = []

    /// The last part of the name, made safe for this file system.
    public var safeName: String {
      let safe = FileName.safe(name)
      return safe.isEmpty ? "download" : safe
    }
  }

  /// The files, in the document's order.
  public var files: [File]

  /// The largest document that is taken; 4 MiB.
  public static let limit = ByteCount.mebibytes(4)

  /// Reads a document.
  /// - Throws: `HTTPError.Kind.malformedResponse` for anything that isn't a Metalink 4 document.
  public init(parsing bytes: [UInt8]) throws(HTTPError) {
    guard Int64(bytes.count) <= Self.limit.bytes else {
      throw Self.malformed("it is larger than \(Self.limit)")
    }
    var parser = Parser()
    do throws(XMLReader.Failure) {
      var reader = XMLReader(bytes)
      while let event = try reader.next() { parser.take(event) }
    } catch {
      throw Self.malformed("\(error.message), at byte \(error.position)")
    }
    guard parser.isMetalink else { throw Self.malformed("its root element isn't <metalink>") }
    files = parser.files
  }

  private static func malformed(_ what: String) -> HTTPError {
    HTTPError(.malformedResponse, phase: .decode, message: "this is no Metalink document: \(what)")
  }

  /// Collects files from elements.
  private struct Parser {
    struct Place {
      var url: String
      var priority: Int
    }

    var isMetalink = false
    var files: [File] = []
    private var path: [String] = []
    private var file: File?
    private var places: [Place] = []
    private var text = ""
    private var attributes: [String: String] = [:]

    mutating func take(_ event: XMLReader.Event) {
      switch event {
      case .start(let name, let attributes):
        if path.isEmpty { isMetalink = name == "metalink" }
        path.append(name)
        text = ""
        self.attributes = attributes
        if path == ["metalink", "file"] {
          file = File(name: attributes["name"] ?? "")
          places = []
        }
      case .text(let more):
        if text.utf8.count + more.utf8.count <= 16 << 10 { text += more }
      case .end:
        end()
        path.removeLast()
        text = ""
      }
    }

    private mutating func end() {
      let text = text.split { $0 == " " || $0 == "\n" || $0 == "\t" || $0 == "\r" || $0 == "\r\n" }.joined(
        separator: " ")
      switch path {
      case ["metalink", "file"]:
        if var file, files.count < 10_000 {
          // Stable: what has one priority stays in the document's order.
          file.urls = places.enumerated().sorted {
            ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset)
          }
          .map(\.element.url)
          file.digests.sort { $0.algorithm.byteCount > $1.algorithm.byteCount }
          files.append(file)
        }
        file = nil
      case ["metalink", "file", "size"]: file?.size = DecimalDigits.value(text.utf8)
      case ["metalink", "file", "hash"]:
        if let algorithm = attributes["type"].flatMap({ Digest.Algorithm(name: $0) }),
          let digest = Digest(algorithm, hex: text)
        {
          file?.digests.append(digest)
        }
      case ["metalink", "file", "url"]:
        let lower = text.lowercased()
        if lower.hasPrefix("http://") || lower.hasPrefix("https://"), places.count < 1000 {
          places.append(Place(url: text, priority: attributes["priority"].flatMap { Int($0) } ?? 999_999))
        }
      default: break
      }
    }
  }
}

extension Client {
  /// Downloads a file of a Metalink document from its places, the best first, and verifies it.
  ///
  /// Its strongest digest is demanded, and its size bounds what is taken; what `options` says of these wins.
  /// - Throws: `HTTPError.Kind.invalidURL` when the file has no place over http or https.
  public func download(
    _ file: Metalink.File, into directory: String, _ options: DownloadOptions = DownloadOptions()
  ) throws(HTTPError) -> Download {
    guard let first = file.urls.first else {
      throw HTTPError(
        .invalidURL, phase: .queue, message: "\"\(file.safeName)\" is to be had at no http or https URL")
    }
    var options = options
    options.mirrors = Array(file.urls.dropFirst().prefix(31)) + options.mirrors
    if options.checksum == nil { options.checksum = file.digests.first }
    if options.maximumSize == nil { options.maximumSize = file.size.map { .bytes($0) } }
    let separator = directory.isEmpty || directory.hasSuffix("/") ? "" : "/"
    return download(.get(first), to: .file(directory + separator + file.safeName), options)
  }
}
