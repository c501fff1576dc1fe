import Penstock

extension Trace {
  /// What there is to tell of an event, if anything.
  func event(_ event: TransferEvent) {
    switch event {
    case .redirect(let hop): redirect(hop)
    case .retry(let attempt): retry(attempt)
    case .head(let head): self.head(head.head, head.facts)
    case .trailers(let fields): trailers(fields)
    case .informational, .uploadProgress, .body, .progress, .completed: break
    }
  }
}
