import StreamCore
import Testing

@testable import Penstock

@Suite struct EventSourceStateMachineTests {
  typealias Machine = EventSourceStateMachine

  private func machine(_ edit: (inout EventSourceOptions) -> Void = { _ in }) -> Machine {
    var options = EventSourceOptions()
    edit(&options)
    return Machine(options)
  }

  private func text(_ action: Machine.Action) -> String {
    switch action {
    case .connect: "connect"
    case .read: "read"
    case .wait(let delay, let error): "wait \(delay) \(error?.kind.rawValue ?? "-")"
    case .end: "end"
    case .fail(let error): "fail \(error.kind.rawValue)"
    }
  }

  private func answer(
    _ machine: inout Machine, _ status: HTTPStatus = 200, _ type: String? = "text/event-stream",
    retryAfter: Duration? = nil
  ) -> String { text(machine.answered(status, contentType: type, retryAfter: retryAfter, random: 0)) }

  @Test func `only 200 with the type opens, and 204 ends`() {
    for type in ["text/event-stream", "Text/Event-Stream ; charset=utf-8", " text/event-stream"] {
      var machine = machine()
      #expect(answer(&machine, 200, type) == "read")
    }
    for type in [nil, "", "text/plain", "text/event-stream2", "application/json; x=text/event-stream"] {
      var machine = machine()
      #expect(answer(&machine, 200, type) == "fail content_type")
    }
    for status: HTTPStatus in [201, 206, 400, 404, 500, 503] {
      var machine = machine()
      #expect(answer(&machine, status) == "fail status")
    }
    var machine = machine()
    #expect(answer(&machine, 204, nil) == "end")
  }

  @Test func `the end of the stream is a reason to connect again, unless that is switched off`() {
    var again = machine()
    _ = answer(&again)
    #expect(text(again.ended(random: 0)) == "wait 3.0 seconds -")
    #expect(text(again.waited()) == "connect")
    var once = machine { $0.reconnects = false }
    _ = answer(&once)
    #expect(text(once.ended(random: 0)) == "end")
    #expect(
      text(once.failed(HTTPError(.truncated, phase: .body, message: ""), random: 0)) == "fail truncated")
  }

  @Test func `the first connection may not fail, a later one may`() {
    let lost = HTTPError(.connectFailed, phase: .connect, message: "")
    var first = machine()
    #expect(text(first.failed(lost, random: 0)) == "fail connect")
    var patient = machine { $0.retriesFirstConnection = true }
    #expect(text(patient.failed(lost, random: 0)) == "wait 3.0 seconds connect")
    var later = machine()
    _ = answer(&later)
    #expect(text(later.failed(lost, random: 0)) == "wait 3.0 seconds connect")
  }

  @Test func `what no repetition mends fails at once`() {
    for kind: HTTPError.Kind in [
      .cancelled, .lineTooLong, .bodyTooLarge, .serverCertificate, .totalTimeout, .shutdown,
    ] {
      var machine = machine()
      _ = answer(&machine)
      #expect(
        text(machine.failed(HTTPError(kind, phase: .body, message: ""), random: 0)) == "fail \(kind.rawValue)"
      )
    }
  }

  @Test func `waits double while nothing comes and start anew with an event`() {
    var machine = machine {
      $0.reconnectionTime = .seconds(1)
      $0.maximumDelay = .seconds(5)
    }
    _ = answer(&machine)
    #expect(text(machine.ended(random: 0)) == "wait 1.0 seconds -")
    // With the dice at their highest the spread above the server's time shows.
    for expected in [2.1, 4.1, 5.0, 5.0] {
      guard case .wait(let delay, _) = machine.ended(random: 1) else {
        Issue.record("no wait")
        return
      }
      #expect(abs(delay / .seconds(1) - expected) < 0.001)
    }
    machine.receivedEvent()
    #expect(text(machine.ended(random: 0)) == "wait 1.0 seconds -")
  }

  @Test func `the server's time is kept to, up to the longest wait`() {
    var machine = machine { $0.maximumDelay = .seconds(10) }
    _ = answer(&machine)
    machine.received(reconnectionTime: .milliseconds(50))
    machine.receivedEvent()
    #expect(text(machine.ended(random: 0)) == "wait 0.05 seconds -")
    machine.received(reconnectionTime: .seconds(99))
    machine.receivedEvent()
    #expect(text(machine.ended(random: 1)) == "wait 10.0 seconds -")
    machine.received(reconnectionTime: .zero)
    machine.receivedEvent()
    #expect(text(machine.ended(random: 0)) == "wait 0.0 seconds -")
    guard case .wait(let delay, _) = machine.ended(random: 1) else { return }
    #expect(delay > .zero, "a stream that ends at once again and again isn't spun on")
  }

  @Test func `attempts that bring nothing are counted`() {
    var machine = machine { $0.maximumAttempts = 2 }
    _ = answer(&machine)
    let lost = HTTPError(.connectFailed, phase: .connect, message: "")
    #expect(text(machine.failed(lost, random: 0)).hasPrefix("wait"))
    machine.receivedEvent()
    #expect(text(machine.failed(lost, random: 0)).hasPrefix("wait"))
    #expect(text(machine.failed(lost, random: 0)).hasPrefix("wait"))
    #expect(text(machine.failed(lost, random: 0)) == "fail connect")
    var ending = self.machine { $0.maximumAttempts = 0 }
    _ = answer(&ending)
    #expect(text(ending.ended(random: 0)) == "end")
  }

  @Test func `statuses are tried again by choice, not before Retry-After`() {
    var machine = machine { $0.retriedStatuses = [503] }
    #expect(answer(&machine, 503, nil, retryAfter: .seconds(20)) == "wait 20.0 seconds status")
    #expect(answer(&machine, 500) == "fail status")
    var capped = self.machine {
      $0.retriedStatuses = [503]
      $0.maximumDelay = .seconds(4)
    }
    #expect(answer(&capped, 503, nil, retryAfter: .seconds(20)) == "wait 4.0 seconds status")
  }
}
