import PollLoop
import StreamCore

/// An answer over HTTP/2 that comes before the request's body has gone, in one record with the RST_STREAM that ends
/// the stream in good order (RFC 9113 §8.1), is dropped by libcurl up to 8.0 (decision 45). It reads no more then, and
/// says so with the next bytes of the body only.
extension CurlLoop {
  /// Ends the transfers whose answers were lost like that while their bodies have nothing to send.
  func endUnanswered() {
    guard !turn.unanswered.isEmpty, let multi else { return }
    var lost: [Transfer] = []
    turn.unanswered.removeAll { transfer in
      guard transfer.mayLoseAnswer else {
        transfer.isWatchedForAnswer = false
        return true
      }
      // Who waits for an answer reads; that nobody reads shows when no other stream of the connection does.
      if let socket = transfer.easy?.connection?.socket, executor.poller.isOpen(socket),
        !multi.waits(for: socket.fd)
      {
        lost.append(transfer)
      }
      return false
    }
    for transfer in lost {
      let (message, advice) = TransferMessages.lostAnswer
      end(transfer, .failure(transfer.error(.connectionLost, message, advice: advice, phase: .head)))
    }
  }
}

extension Transfer {
  /// Whether libcurl may have seen the end of the stream without having told.
  var mayLoseAnswer: Bool { machine.isSendPaused && machine.phase == .sending && !hasHeadBegun }

  func watchForLostAnswer() {
    guard isOnHTTP2, !isWatchedForAnswer, mayLoseAnswer else { return }
    isWatchedForAnswer = true
    turn.unanswered.append(self)
  }

  /// Whether nobody will read the rest of the upload: the final head has refused it. libcurl stops sending by itself
  /// unless the connection is about to end; over HTTP/2 the answer's end shows only when the request has one, too.
  var isUploadUseless: Bool { isOnHTTP2 && (status?.code ?? 0) >= 300 }
}
