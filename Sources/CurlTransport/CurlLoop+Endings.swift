import PollLoop
import StreamCore

/// What becomes of transfers that libcurl has finished with.
extension CurlLoop {
  func collectFinished() {
    while let (easy, code) = multi?.nextFinished() {
      guard let transfer = easy.transfer else { continue }
      finished(transfer, code: code)
    }
  }

  func finished(_ transfer: Transfer, code: Int) {
    if code != 0, waitsForDescriptor(transfer, code: code) { return }
    if code == 42 || code == 7, transfer.machine.startsAgain() { return startAgain(transfer) }
    if transfer.metOtherProtocol {
      if connectsAnew(transfer) { return }
      transfer.machine.refuse(
        transfer.error(
          .tlsHandshake, TransferMessages.noHTTP2.0, advice: TransferMessages.noHTTP2.1, phase: .connect))
    }
    let ending: ExchangeEnding
    if code == 0, transfer.machine.refusal == nil {
      ending = transfer.completion()
    } else {
      ending = .failure(failure(transfer, code))
    }
    let lookup = transfer.lookup
    switch transfer.machine.finished() {
    case .none: return
    case .clearUp:
      abandoned -= 1
      detach(transfer)
    case .report:
      if code == 5 || code == 6, let lookup { failWaiters(of: lookup, ending) }
      detach(transfer)
      leave(transfer, ending)
    }
  }

  /// It was given a connection whose peer has spoken unasked, which is closed now, or a repeat that libcurl makes
  /// badly: it is begun anew.
  private func startAgain(_ transfer: Transfer) {
    detach(transfer)
    transfer.isHandleUsed = false
    transfer.openedConnections = 0
    // Sent before, on a connection that died: libcurl would have rewound it now.
    if transfer.machine.sends > 0, transfer.upload != nil, !transfer.rewind() {
      let message = "the connection was lost and the body can't be sent again"
      return end(transfer, .failure(transfer.error(.bodyNotReplayable, message, phase: .request)))
    }
    start(transfer)
  }

  /// Makes libcurl look at what it has taken in: only a change of the pauses does.
  func lookAgain(_ transfer: Transfer) {
    guard let easy = transfer.easy, transfer.position != nil, !transfer.machine.isReceivePaused else {
      return
    }
    // Refused, libcurl is done with it, and says so at the end of the turn.
    guard easy.setPaused(receiving: true, sending: transfer.machine.isSendPaused) == 0 else { return }
    applyPauses(transfer)
  }

  /// A kept connection of HTTP/1.1 says nothing about what the server offers: asks on one of its own.
  private func connectsAnew(_ transfer: Transfer) -> Bool {
    guard let multi, let easy = transfer.easy, transfer.position != nil, easy.openedConnections == 0 else {
      return false
    }
    multi.remove(easy)
    transfer.metOtherProtocol = false
    easy.openFreshConnection()
    return multi.add(easy) == nil
  }

  /// One look-up's failure is the answer for all that waited for it.
  private func failWaiters(of name: String, _ ending: ExchangeEnding) {
    guard case .failure(let error) = ending else { return }
    for waiter in turn.lookups.takeWaiters(of: name) {
      end(waiter, .failure(waiter.error(error.kind, error.message, advice: error.advice, phase: .connect)))
    }
  }

  private func failure(_ transfer: Transfer, _ code: Int) -> HTTPError {
    guard let easy = transfer.easy else {
      return transfer.error(.transport, "libcurl ended the exchange with code \(code)")
    }
    // CURLE_SEND_FAIL_REWIND: the handle stays in that state (decision 6).
    if code == 65 { easy.isRecyclable = false }
    return CurlError(
      code: code, text: easy.text(forCode: code),
      connectStatus: easy.connectStatus
    ).httpError(for: transfer)
  }
}
