/// The origins that have answered in HTTP/2, so that an error before the next answer can be read rightly. Bounded.
struct HTTP2Origins {
  private static let kept = 4096
  private var origins: Set<String> = []
  /// The one that was told of last, as most answers are of one origin.
  private var last: (origin: String, isHTTP2: Bool)?

  mutating func note(_ origin: String, isHTTP2: Bool) {
    if let last, last.isHTTP2 == isHTTP2, last.origin == origin { return }
    last = (origin, isHTTP2)
    if !isHTTP2 {
      origins.remove(origin)
    } else {
      if origins.count >= Self.kept { origins = [] }
      origins.insert(origin)
    }
  }

  func contains(_ origin: String) -> Bool { origins.contains(origin) }
}
