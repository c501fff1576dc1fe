import Penstock

/// A parsed command line: typed values, nothing yet opened, read or sent.
struct Settings: Sendable, Equatable {
  /// A limit in time: `--max-time 0` and its like lift the default.
  enum TimeLimit: Sendable, Equatable {
    case unlimited
    case after(Duration)
  }

  /// One `-H`.
  enum HeaderOperation: Sendable, Equatable {
    /// `Name: value`: replaces a default of that name; repeats are all sent.
    case add(name: String, value: String)
    /// `Name:` is not sent, not even by default.
    case remove(name: String)
    /// `Name;` is sent without a value.
    case empty(name: String)

    var name: String {
      switch self {
      case .add(let name, _), .remove(let name), .empty(let name): name
      }
    }
  }

  enum InputSource: Sendable, Equatable {
    case file(String)
    case standardInput
  }

  /// One `-d`, `--data-raw`, `--data-binary` or `--json`.
  struct DataPart: Sendable, Equatable {
    enum Content: Sendable, Equatable {
      case text(String)
      case input(InputSource)
    }
    var content: Content
    /// CR, LF and NUL are cut from what is read (`-d @FILE`).
    var cutsLineEnds: Bool
    /// An `&` goes before it when it isn't the first.
    var joinsWithAmpersand: Bool
  }

  enum Authorization: Sendable, Equatable {
    case basic(user: String, password: String)
    case bearer(token: String)
  }

  enum HTTPVersion: Sendable, Equatable { case http1, http2 }
  enum IPVersion: Sendable, Equatable { case v4, v6 }
  /// What `events` tells of each piece of the body.
  enum BodyDisplay: String, Sendable, Equatable, CaseIterable { case base64, text, none }
  /// How progress is shown; see `--progress`.
  enum ProgressDisplay: String, Sendable, Equatable, CaseIterable { case auto, bar, json, none }
  enum OutputTarget: Sendable, Equatable {
    case standardOutput
    case file(String)
  }

  /// `--resolve`: this host and port are at this address.
  struct Resolution: Sendable, Equatable {
    var host: String
    var port: UInt16
    /// An IPv4 or IPv6 address, without brackets.
    var address: String
  }

  struct QueryItem: Sendable, Equatable {
    var name: String
    var value: String
  }

  var verb: Verb = .get
  var urls: [String] = []

  /// `-X`, unless given nil; see `effectiveMethod`.
  var method: String?
  var headers: [HeaderOperation] = []
  var headOnly = false
  var data: [DataPart] = []
  /// `--json` was used: content type and accepted type are JSON.
  var isJSON = false
  /// `-G`: the data goes into the query.
  var dataInQuery = false
  var upload: InputSource?
  var queryItems: [QueryItem] = []

  var authorization: Authorization?
  var credentials = CredentialSettings()
  /// Empty: none is sent.
  var userAgent: String?
  /// Empty: none is sent.
  var referer: String?

  /// Nil: the verb's default, see `decodesContent`.
  var compressed: Bool?
  var maximumBody: Int64?
  var failsOnStatus = false
  /// 0: not followed. Nil: the library's default, 20.
  var maximumRedirects: Int?

  /// `--max-line`, in bytes; nil: 16 MiB.
  var maximumLine: Int64?
  /// `--ndjson`: lines are JSON values.
  var readsJSONLines = false
  /// `--no-reconnect` clears it.
  var reconnects = true

  var includesHead = false
  var isVerbose = false
  var isSilent = false
  /// Nil: `events` counts the bytes and doesn't show them.
  var bodyDisplay: BodyDisplay?
  var output: OutputTarget = .standardOutput
  /// `-o -` was given.
  var namesStandardOutput = false

  /// `--dir`, where files go; nil: where we are.
  var directory: String?
  /// `-O`: the default, said aloud.
  var namesAfterRemote = false
  var overwrite: DownloadOptions.Overwrite?
  /// `-j`, at least 1.
  var parallel: Int?
  var progress: ProgressDisplay = .auto
  /// What `batch` has of its own.
  var batch = BatchChoices()
  var download = DownloadSettings()

  /// `--retry`; nil: the verb's default, see `retryPolicy`.
  var retries: Int?
  var retriesAllMethods = false
  var retryMaximumDelay: Duration?

  var connectTimeout: TimeLimit?
  var firstByteTimeout: TimeLimit?
  var idleTimeout: TimeLimit?
  var maximumTime: TimeLimit?

  var httpVersion: HTTPVersion?
  var ipVersion: IPVersion?
  var networkInterface: String?
  var unixSocket: String?
  var resolutions: [Resolution] = []

  var network = NetworkSettings()
  var http = HTTPSettings()

  var isInsecure = false
  var authorityFile: String?
}
