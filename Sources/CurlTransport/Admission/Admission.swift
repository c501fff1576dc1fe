import StreamCore
import Synchronization

/// The queue in front of libcurl, shared by all loops of a client.
final class Admission: Sendable {
  private struct Locked: @unchecked Sendable {
    // Sendable: the tickets' variables are touched under the mutex alone.
    var machine: AdmissionStateMachine
  }

  private let state: Mutex<Locked>

  init(limits: AdmissionLimits) { state = Mutex(Locked(machine: AdmissionStateMachine(limits: limits))) }

  func enter(_ ticket: AdmissionTicket) -> AdmissionStateMachine.EnterAction {
    state.withLock { $0.machine.enter(ticket) }
  }

  func leave(_ ticket: AdmissionTicket) {
    start { $0.leave(ticket) }
  }

  func connected(_ ticket: AdmissionTicket) {
    // Nothing is to be learnt about most: no lock for these.
    if ticket.isSecure { start { $0.connected(ticket) } }
  }

  func learned(_ ticket: AdmissionTicket, isHTTP2: Bool) {
    if ticket.isSecure { start { $0.learned(ticket, isHTTP2: isHTTP2) } }
  }

  func promote(_ ticket: AdmissionTicket) { start { $0.promote(ticket) } }

  /// Lets nobody in any more, and fails those that wait.
  func close() {
    let waiting = state.withLock { $0.machine.close() }
    for ticket in waiting { ticket.post(.shutdown) }
  }

  var counts: (running: Int, longLived: Int, waiting: Int) {
    state.withLock { ($0.machine.running, $0.machine.runningLong, $0.machine.waiting) }
  }

  /// How many wait, by origin.
  var waitingByOrigin: [String: Int] { state.withLock { $0.machine.waitingByOrigin } }

  private func start(_ change: (inout AdmissionStateMachine) -> [AdmissionTicket]) {
    let started = state.withLock { change(&$0.machine) }
    // Outside the lock.
    for ticket in started { ticket.post(.start) }
  }
}
