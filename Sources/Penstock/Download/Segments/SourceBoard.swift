/// The places that have a file: the one that was asked for and its mirrors, with how each has done. Pure.
struct SourceBoard: Sendable {
  struct Source: Sendable, Hashable {
    var url: String
    /// Where its redirects led, as far as known.
    var finalURL: String?
    var validator: EntityValidator?
    /// Bytes a second of one segment, as last measured.
    var rate: Double = 0
    var received: Int64 = 0
    /// Failures in a row.
    var failures = 0
    /// How many segments load from it now.
    var running = 0
    /// Whether it turned out to have something else, or nothing.
    var isExcluded = false
  }

  private(set) var sources: [Source]
  /// After so many failures in a row a source isn't asked while there is another.
  private static let patience = 2

  init(_ urls: [String]) { sources = urls.map { Source(url: $0) } }

  subscript(index: Int) -> Source { sources[index] }

  var hasUsable: Bool { sources.contains { !$0.isExcluded } }

  /// The source for the next segment: unknown ones are tried first, then what is fastest for how much it has to
  /// do; failing ones last. Nil when none is left.
  mutating func pick() -> Int? {
    let usable = sources.indices.filter { !sources[$0].isExcluded }
    let steady = usable.filter { sources[$0].failures < Self.patience }
    let candidates = steady.isEmpty ? usable : steady
    let fastest = candidates.map { sources[$0].rate }.max() ?? 0
    func worth(_ index: Int) -> Double {
      let source = sources[index]
      let rate = source.rate > 0 ? source.rate : max(fastest, 1)
      return rate / Double(source.running + 1) / Double(1 << min(source.failures, 10))
    }
    guard let best = candidates.max(by: { (worth($0), $1) < (worth($1), $0) }) else { return nil }
    begin(best)
    return best
  }

  mutating func begin(_ index: Int) { sources[index].running += 1 }

  mutating func done(_ index: Int) { sources[index].running = max(0, sources[index].running - 1) }

  mutating func answered(_ index: Int, url: String, validator: EntityValidator) {
    sources[index].finalURL = url
    sources[index].validator = validator
  }

  mutating func received(_ index: Int, _ count: Int, rate: Double?) {
    sources[index].received += Int64(count)
    sources[index].failures = 0
    if let rate { sources[index].rate = rate }
  }

  mutating func failed(_ index: Int) { sources[index].failures += 1 }

  mutating func exclude(_ index: Int) { sources[index].isExcluded = true }

  mutating func replace(_ index: Int, url: String) {
    sources[index].url = url
    sources[index].finalURL = nil
  }

  /// The validators are another state's: all are learnt anew.
  mutating func forgetValidators() {
    for index in sources.indices { sources[index].validator = nil }
  }
}
