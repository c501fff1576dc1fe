import StreamCore
import Testing

@testable import Penstock

@Suite struct RangeAnswerJudgeTests {
  private static let validator = EntityValidator(etag: "\"a\"")

  private static func judge(
    _ status: HTTPStatus, _ headers: HTTPFields, first: Int64? = 5, total: Int64? = 10,
    validator: EntityValidator? = RangeAnswerJudgeTests.validator, hasBytes: Bool = true
  ) -> RangeAnswerJudge.Verdict {
    RangeAnswerJudge(first: first, total: total, validator: validator, hasBytes: hasBytes)
      .judge(status: status, headers: headers)
  }

  @Test func `the exact range of the same state is appended`() {
    #expect(
      Self.judge(206, ["Content-Range": "bytes 5-9/10", "ETag": "\"a\"", "Content-Length": "5"])
        == .append(skip: 0, last: 9, total: 10))
    #expect(Self.judge(206, ["Content-Range": "bytes 5-9/*"]) == .append(skip: 0, last: 9, total: 10))
    #expect(Self.judge(206, ["Content-Range": "bytes 5-7/10"]) == .append(skip: 0, last: 7, total: 10))
    #expect(
      Self.judge(206, ["Content-Range": "bytes 5-9/10"], total: nil) == .append(skip: 0, last: 9, total: 10))
    #expect(
      Self.judge(206, ["Content-Range": "bytes 5-9/10", "Content-Encoding": "identity"])
        == .append(skip: 0, last: 9, total: 10))
  }

  @Test func `a range that begins earlier is used from the asked byte on`() {
    #expect(Self.judge(206, ["Content-Range": "bytes 2-9/10"]) == .append(skip: 3, last: 9, total: 10))
    #expect(Self.judge(206, ["Content-Range": "bytes 0-9/10"]) == .append(skip: 5, last: 9, total: 10))
  }

  @Test(arguments: [
    ("bytes 6-9/10", RestartReason.otherRange), ("bytes 0-4/10", .otherRange),
    ("bytes 5-9/11", .totalChanged),
    ("bytes 5-10/11", .totalChanged), ("bytes 5-10/*", .totalChanged), ("bytes 5-9", .noContentRange),
    ("bytes */10", .noContentRange), ("items 5-9/10", .noContentRange), ("bytes 9-5/10", .noContentRange),
    ("", .noContentRange),
  ]) func `another range begins anew`(_ range: String, _ reason: RestartReason) {
    #expect(Self.judge(206, ["Content-Range": range]) == .startOver(reason))
  }

  @Test func `a part that can't be told apart begins anew`() {
    #expect(Self.judge(206, [:]) == .startOver(.noContentRange))
    #expect(
      Self.judge(206, ["Content-Range": "bytes 5-9/10", "Content-Encoding": "gzip"]) == .startOver(.encoded))
    #expect(
      Self.judge(206, ["Content-Type": "multipart/byteranges; boundary=x", "Content-Range": "bytes 5-9/10"])
        == .startOver(.multipart))
    #expect(
      Self.judge(206, ["Content-Range": "bytes 5-9/10", "ETag": "\"b\""]) == .startOver(.changed))
    #expect(
      Self.judge(206, ["Content-Range": "bytes 5-9/10", "Content-Length": "6"]) == .startOver(.otherRange))
    var twice: HTTPFields = ["Content-Range": "bytes 5-9/10"]
    twice.append("Content-Range", "bytes 0-4/10")
    #expect(Self.judge(206, twice) == .startOver(.noContentRange))
  }

  @Test func `the whole is a restart only where there was something`() {
    #expect(Self.judge(200, ["ETag": "\"a\""]) == .whole(.rangeIgnored))
    #expect(Self.judge(200, ["ETag": "\"b\""]) == .whole(.changed))
    #expect(Self.judge(200, [:], hasBytes: false) == .whole(nil))
    #expect(Self.judge(200, [:], first: nil, hasBytes: false) == .whole(nil))
    #expect(Self.judge(203, [:]) == .whole(.rangeIgnored))
  }

  @Test func `416 says complete only with the very size`() {
    #expect(Self.judge(416, ["Content-Range": "bytes */10"], first: 10) == .complete)
    #expect(Self.judge(416, ["Content-Range": "bytes */10"], first: 10, total: nil) == .complete)
    #expect(Self.judge(416, ["Content-Range": "bytes */10"], first: 8) == .startOver(.notSatisfiable))
    #expect(Self.judge(416, ["Content-Range": "bytes */12"], first: 10) == .startOver(.totalChanged))
    #expect(
      Self.judge(416, ["Content-Range": "bytes */12"], first: 10, total: nil) == .startOver(.notSatisfiable))
    #expect(Self.judge(416, [:], first: 10) == .startOver(.notSatisfiable))
    #expect(
      Self.judge(416, ["Content-Range": "bytes */10", "ETag": "\"b\""], first: 10) == .startOver(.changed))
    #expect(
      Self.judge(416, ["Content-Range": "bytes */0"], first: 0, total: nil) == .startOver(.notSatisfiable))
    #expect(Self.judge(416, ["Content-Range": "bytes */10"], first: nil) == .refused)
  }

  @Test func `a part that nobody asked for and other statuses are refused`() {
    #expect(Self.judge(206, ["Content-Range": "bytes 0-9/10"], first: nil) == .refused)
    for status in [304, 401, 403, 404, 410, 412, 500, 503] {
      #expect(Self.judge(HTTPStatus(status), [:]) == .refused)
    }
  }

  /// Whatever is answered: bytes are appended only at the byte that was asked for and inside the known whole.
  @Test func `no answer puts a byte elsewhere`() {
    for status in [200, 206, 416] {
      for begin in Int64(0)..<13 {
        for last in Int64(0)..<13 {
          for complete in ["10", "11", "*"] {
            let verdict = Self.judge(
              HTTPStatus(status), ["Content-Range": "bytes \(begin)-\(last)/\(complete)"])
            guard case .append(let skip, let end, let total) = verdict else { continue }
            #expect(status == 206 && begin + skip == 5 && end == last && end >= 5 && end < 10 && total == 10)
          }
        }
      }
    }
  }

  @Test func `only strong validators go into If-Range`() {
    #expect(EntityValidator(["ETag": "\"x\""]).ifRange == "\"x\"")
    #expect(EntityValidator(["ETag": "W/\"x\""]).ifRange == nil)
    #expect(EntityValidator(["ETag": "x"]).ifRange == nil)
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(EntityValidator(["Last-Modified": date]).ifRange == nil)
    #expect(EntityValidator(["Last-Modified": date, "Date": date]).ifRange == nil)
    #expect(
      EntityValidator(["Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:50:37 GMT"]).ifRange == date)
    #expect(
      EntityValidator(["ETag": "W/\"x\"", "Last-Modified": date, "Date": "Sun, 06 Nov 1994 08:50:37 GMT"])
        .ifRange == date)
  }
}
