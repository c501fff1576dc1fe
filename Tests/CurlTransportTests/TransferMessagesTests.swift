import StreamCore
import Testing

@testable import CurlTransport

@Suite struct TransferMessagesTests {
  @Test(arguments: [
    (HTTPError.Kind.admissionTimeout, "for a place"), (.connectTimeout, "no connection within"),
    (.firstByteTimeout, "no answer within"), (.idleTimeout, "no progress for"),
    (.totalTimeout, "the total limit of"),
  ])
  func `each limit has words of its own, with its length and what to do`(
    _ kind: HTTPError.Kind, _ words: String
  ) {
    for (limit, text) in [
      (Duration.seconds(60), "60 s"), (.milliseconds(1500), "1.5 s"), (.milliseconds(20), "20 ms"),
    ] {
      let (message, advice) = TransferMessages.timeout(kind, limit)
      #expect(message.contains(words) && message.contains(text), "\(message)")
      #expect(!advice.isEmpty)
    }
    #expect(kind.code == 28)
  }

  @Test func `no two limits say the same`() {
    let kinds: [HTTPError.Kind] = [
      .admissionTimeout, .connectTimeout, .firstByteTimeout, .idleTimeout, .totalTimeout,
    ]
    #expect(Set(kinds.map { TransferMessages.timeout($0, .seconds(1)).0 }).count == kinds.count)
    #expect(Set(kinds.map(\.rawValue)).count == kinds.count)
  }
}
