import StreamCore
import TestSupport
import Testing

@testable import Penstock

@Suite struct DownloadPoliciesTests {
  private static let lost = HTTPError(.receiveFailed, phase: .body, message: "lost")

  private static func policy(_ limit: Int, _ maximum: Duration) -> RetryPolicy {
    var policy = RetryPolicy(limit: limit)
    policy.maximumDelay = maximum
    return policy
  }

  private static func status(_ status: HTTPStatus) -> HTTPError {
    HTTPError(.httpStatus, phase: .head, message: "no", status: status)
  }

  @Test func `tries that get further never end`() {
    let policy = Held(HealingPolicy(Self.policy(2, .seconds(60))))
    for step in 1...1000 {
      #expect(
        policy.change({ $0.failed(Self.lost, reached: Int64(step), random: 0.5) })
          == .retry(delay: .milliseconds(20)))
    }
  }

  @Test func `tries that get no further end, each waiting longer`() {
    let policy = Held(HealingPolicy(Self.policy(3, .milliseconds(600))))
    var delays: [Duration] = []
    while case .retry(let delay) = policy.change({ $0.failed(Self.lost, reached: 0, random: 0.5) }) {
      delays.append(delay)
    }
    #expect(delays == [.milliseconds(250), .milliseconds(300), .milliseconds(300)])
    let never = Held(HealingPolicy(Self.policy(0, .seconds(1))))
    #expect(never.change({ $0.failed(Self.lost, reached: 5, random: 0) }) == .giveUp)
  }

  @Test func `falling back below what was reached is no progress`() {
    let policy = Held(HealingPolicy(Self.policy(2, .seconds(1))))
    var count = 0
    while case .retry = policy.change({ $0.failed(Self.lost, reached: 50, random: 0) }) { count += 1 }
    #expect(count == 2)
  }

  @Test func `what can't be mended isn't tried again`() {
    func retries(_ error: HTTPError, reached: Int64 = 1) -> Bool {
      let policy = Held(HealingPolicy(Self.policy(3, .seconds(1))))
      return policy.change({ $0.failed(error, reached: reached, random: 0) }) != .giveUp
    }
    for code in [408, 425, 429, 500, 502, 503, 504] { #expect(retries(Self.status(HTTPStatus(code)))) }
    for code in [400, 401, 403, 404, 410, 501] { #expect(!retries(Self.status(HTTPStatus(code)))) }
    for kind in [HTTPError.Kind.idleTimeout, .truncated, .connectionLost, .emptyReply, .http2Stream] {
      #expect(retries(HTTPError(kind, phase: .body, message: ""), reached: 0))
    }
    for kind in [
      HTTPError.Kind.totalTimeout, .diskFull, .serverCertificate, .checksumMismatch, .malformedResponse,
    ] {
      #expect(!retries(HTTPError(kind, phase: .body, message: "")))
    }
    let unknown = HTTPError(.hostNotResolved, phase: .connect, message: "")
    #expect(
      retries(unknown, reached: 1) && !retries(unknown, reached: 0), "a name that was found isn't wrong")
  }

  @Test func `the server's own wait is kept within the limit`() {
    let policy = Held(HealingPolicy(Self.policy(5, .seconds(10))))
    #expect(
      policy.change({ $0.failed(Self.status(503), reached: 0, retryAfter: .seconds(7), random: 0) })
        == .retry(delay: .seconds(7)))
    #expect(
      policy.change({ $0.failed(Self.status(503), reached: 0, retryAfter: .seconds(700), random: 0) })
        == .retry(delay: .seconds(10)))
  }

  @Test func `a bucket lets its rate through, and no more`() {
    var generator = SeededGenerator(seed: 3)
    let begin = MonotonicInstant.now
    let bucket = Held(ByteBucket(rate: .bytesPerSecond(1000), now: begin))
    var now = begin
    var passed = 0
    while now < begin + .seconds(20) {
      let count = 1 + generator.next(below: bucket.it.piece)
      let wait = bucket.change({ $0.take(count, now: now) })
      passed += count
      now += wait
    }
    #expect(abs(passed - 20_000) <= 300)
    // What wasn't used isn't saved up beyond a tenth of a second.
    #expect(bucket.change({ $0.take(100, now: now + .seconds(100)) }) == .zero)
    #expect(bucket.change({ $0.take(1000, now: now + .seconds(100)) }) == .seconds(1))
    bucket.change({ $0.set(rate: nil, now: now + .seconds(100)) })
    #expect(bucket.change({ $0.take(1 << 40, now: now + .seconds(100)) }) == .zero && bucket.it.piece == .max)
  }

  @Test func `turns go by priority, then by arrival, never more than the limit`() {
    let turns = Held(DownloadTurns(limit: 2))
    #expect(
      turns.change({ $0.enter(1, priority: 0) }) == [1] && turns.change({ $0.enter(2, priority: 0) }) == [2])
    #expect(
      turns.change({ $0.enter(3, priority: 0) }).isEmpty && turns.change({ $0.enter(4, priority: 5) }).isEmpty
    )
    #expect(turns.change({ $0.enter(5, priority: 0) }).isEmpty)
    #expect(turns.change({ $0.leave(1) }) == [4] && turns.change({ $0.leave(4) }) == [3])
    #expect(turns.change({ $0.leave(5) }).isEmpty, "one that waits may leave")
    #expect(
      turns.change({ $0.enter(6, priority: 1) }).isEmpty && turns.change({ $0.enter(7, priority: 0) }).isEmpty
    )
    turns.change({ $0.set(priority: 9, of: 7) })
    #expect(turns.change({ $0.set(limit: 3) }) == [7])
    #expect(turns.change({ $0.leave(2) }) == [6] && turns.it.waitingCount == 0)
  }

  @Test func `digests of fields are read in both forms, the strongest first`() throws {
    let sha256 = try Digest.of(Array("hello".utf8), .sha256)
    let sha512 = try Digest.of(Array("hello".utf8), .sha512)
    let (short, long) = (Base64.encode(sha256.bytes), Base64.encode(sha512.bytes))
    #expect(DigestFields.expected(["Repr-Digest": "sha-256=:\(short):"]) == sha256)
    #expect(
      DigestFields.expected(["Repr-Digest": "md5=:AAAA:, sha-512=:\(long):, sha-256=:\(short):"]) == sha512)
    #expect(DigestFields.expected(["Digest": "SHA-256=\(short)"]) == sha256)
    #expect(DigestFields.expected(["Digest": "sha-256=\(long)"]) == nil)
    #expect(DigestFields.expected(["Repr-Digest": "sha-256=\(short)"]) == nil)
    #expect(DigestFields.expected(["Repr-Digest": "sha-256=:!!!!:"]) == nil)
    #expect(DigestFields.expected(["Content-Digest": "sha-256=:\(short):"]) == nil, "of this part alone")
    let other = Base64.encode(try Digest.of([1], .sha256).bytes)
    #expect(
      DigestFields.expected(["Repr-Digest": "sha-256=:\(short):", "Digest": "sha-256=\(other)"]) == nil)
  }

  @Test func `Base64 goes back to what it was`() {
    var generator = SeededGenerator(seed: 5)
    for count in 0..<70 {
      let bytes = generator.bytes(count)
      #expect(Base64Text.decode(Base64.encode(bytes)) == bytes)
    }
    for wrong in ["A", "AA", "AAA", "=AAA", "AA=A", "A===", "AAA=AAAA", "AA-A"] {
      #expect(Base64Text.decode(wrong) == nil, "\(wrong)")
    }
  }

  @Test(arguments: Digest.Algorithm.allCases) func `a digest goes on from its kept state`(
    _ algorithm: Digest.Algorithm
  ) throws {
    var generator = SeededGenerator(seed: 9)
    let bytes = generator.bytes(1000)
    let whole = try Digest.of(bytes, algorithm)
    for cut in [0, 1, 63, 64, 65, 127, 128, 500, 999, 1000] {
      let first = try #require(SavableDigestContext(algorithm))
      #expect(bytes[..<cut].withUnsafeBytes { first.update($0) })
      let second = try #require(SavableDigestContext(algorithm, state: first.state))
      #expect(bytes[cut...].withUnsafeBytes { second.update($0) })
      #expect(second.finalize() == whole.bytes)
    }
    let kept = try #require(SavableDigestContext(algorithm)).state
    #expect(SavableDigestContext(algorithm, state: []) == nil)
    #expect(SavableDigestContext(algorithm, state: Array(kept.dropLast())) == nil)
    #expect(SavableDigestContext(algorithm, state: [9] + kept.dropFirst()) == nil)
    // A count of waiting bytes that can't be must not become an index.
    #expect(
      SavableDigestContext(algorithm, state: Array(kept.prefix(4)) + kept.dropFirst(4).map { _ in 0xFF })
        == nil)
  }
}
