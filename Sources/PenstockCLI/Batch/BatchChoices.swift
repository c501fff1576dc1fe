/// What the command line says of `batch` alone.
struct BatchChoices: Sendable, Equatable {
  enum Order: String, Sendable, Equatable, CaseIterable { case input, completion }

  /// `--per-host`; nil: 8, or with `--adaptive` as many as in all.
  var perHost: Int?
  /// `--rate`: requests a second and host.
  var rate: Double?
  var isAdaptive = false
  var order = Order.completion
  var failsFast = false
  var joinsIdentical = false
  /// `--robots`: the agent that robots.txt is read for; nil: nobody asks.
  var robots: String?
  /// `--state`.
  var state: String?
  /// `--report`.
  var report: String?
}
