import StreamCore
import Synchronization

/// What the reader may ask of a transfer, on any thread.
extension Transfer: ExchangeProducer {
  /// How far it is before its head has come.
  enum Stage: UInt8 { case queue, connect, request, head }

  func reach(_ reached: Stage) { stage.store(reached.rawValue, ordering: .relaxed) }

  func readerWantsMore() { post(.resume) }
  func readerLeft() { post(.cancel) }

  var phase: HTTPError.Phase {
    switch Stage(rawValue: stage.load(ordering: .relaxed)) {
    case .queue: .queue
    case .connect: .connect
    case .request: .request
    case .head, nil: .head
    }
  }
}
