import Penstock

/// What the options of forms, cookies, redirects and pace add up to, and the options as they were given.
struct HTTPSettings: Sendable, Equatable {
  /// `-F`, in order.
  var form: [CurlFormField] = []
  /// `-b 'a=b'`, in order.
  var cookiePairs: [String] = []
  /// `-b FILE`, in order; an empty name only turns cookies on.
  var cookieFiles: [String] = []
  /// `-c FILE`; `-` is standard output.
  var cookieJar: String?
  /// `--limit-rate`, nil: none.
  var rateLimit: Int64?
  /// `--location-trusted`.
  var trustsRedirects = false
  /// `--curl`.
  var printsCurl = false
  var given = GivenOptions()

  /// Cookies are kept with `-b` or `-c` alone.
  var keepsCookies: Bool { !cookiePairs.isEmpty || !cookieFiles.isEmpty || cookieJar != nil }
}

/// The options of a command line in their order, for `--curl`. Two command lines that mean the same are equal however
/// they are spelt.
struct GivenOptions: Sendable, Equatable {
  struct Given: Sendable {
    let option: Option
    let value: String?
  }

  var all: [Given] = []

  func contains(_ name: String) -> Bool { all.contains { $0.option.name == name } }

  static func == (left: GivenOptions, right: GivenOptions) -> Bool { true }
}
