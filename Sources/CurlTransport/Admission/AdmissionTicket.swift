/// One exchange's place in the queue or among the running ones.
final class AdmissionTicket: @unchecked Sendable {
  // Sendable: the constants are; the variables are guarded by the lock of `Admission`.
  enum State { case new, waiting, running, runningLong, left }

  let origin: String
  let loop: Int
  let isSecure: Bool
  let isLongLived: Bool
  let priority: Int
  var state = State.new
  /// Its number among all that asked.
  var order: UInt64 = 0
  /// Whether it counts as a stream of an HTTP/2 connection.
  var countsAsStream = false
  /// Where it counts while it runs.
  var host: AdmissionStateMachine.Host?
  /// Whom to start; let go when it has been started or has left. (A weak reference would make every retain of
  /// the transfer a slow one.)
  var transfer: Transfer?

  init(origin: String, loop: Int, isSecure: Bool, isLongLived: Bool, priority: Int) {
    self.origin = origin
    self.loop = loop
    self.isSecure = isSecure
    self.isLongLived = isLongLived
    self.priority = priority
  }

  /// Larger priority first, else in order.
  func goesBefore(_ other: AdmissionTicket) -> Bool {
    priority == other.priority ? order < other.order : priority > other.priority
  }
}
