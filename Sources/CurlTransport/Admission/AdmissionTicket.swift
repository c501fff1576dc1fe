/// One exchange's place in the queue or among the running ones: what `Transfer` is to `Admission`.
class AdmissionTicket: @unchecked Sendable {
  // Sendable: the constants are; the variables are guarded by the lock of `Admission`.
  enum State { case new, waiting, running, runningLong, left }

  final let origin: String
  final let loopIndex: Int
  final let isSecure: Bool
  final let isLongLived: Bool
  final let priority: Int
  @safe @exclusivity(unchecked) final var state = State.new
  /// Its number among all that asked.
  @safe @exclusivity(unchecked) final var order: UInt64 = 0
  /// Whether it counts as a stream of an HTTP/2 connection.
  @safe @exclusivity(unchecked) final var countsAsStream = false
  /// Where it counts while it runs, and waits while it waits.
  @safe @exclusivity(unchecked) final var host: AdmissionStateMachine.Host?

  init(origin: String, loop: Int, isSecure: Bool, isLongLived: Bool, priority: Int) {
    self.origin = origin
    loopIndex = loop
    self.isSecure = isSecure
    self.isLongLived = isLongLived
    self.priority = priority
  }

  /// Larger priority first, else in order.
  final func goesBefore(_ other: AdmissionTicket) -> Bool {
    priority == other.priority ? order < other.order : priority > other.priority
  }

  /// Tells whoever waits with it what has come of it.
  func post(_ command: CurlCommand) {}
}
