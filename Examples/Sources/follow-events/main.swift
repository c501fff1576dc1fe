// Follows server-sent events; connects again, with the last event's id, when the stream ends: follow-events URL [COUNT]
import Penstock

let arguments = CommandLine.arguments.dropFirst()
let most = arguments.dropFirst().first.flatMap { Int($0) } ?? .max
if let url = arguments.first {
  var options = EventSourceOptions()
  options.onChange = { change in
    switch change {
    case .connecting: print("connecting")
    case .open(let head, _): print("open: \(head.status)")
    case .waiting(let delay, let error): print("again in \(delay)\(error.map { ": \($0)" } ?? "")")
    }
  }
  var count = 0
  do {
    for try await event in Client.shared.eventSource(.get(url), options) {
      print("\(event.type) \(event.id): \(event.data)")
      count += 1
      // Leaving the loop closes the connection.
      if count == most { break }
    }
  } catch {
    print("failed: \(error)")
  }
} else {
  print("usage: follow-events URL [COUNT]")
}
