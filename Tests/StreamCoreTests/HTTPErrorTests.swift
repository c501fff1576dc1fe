import StreamCore
import Testing

@Suite struct HTTPErrorTests {
  @Test func everyKindHasAWordOfItsOwnAndACode() {
    let words = HTTPError.Kind.allCases.map(\.rawValue)
    #expect(Set(words).count == words.count)
    for kind in HTTPError.Kind.allCases {
      #expect((1...255).contains(kind.code), "\(kind)")
      #expect(kind.rawValue.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "_" }, "\(kind)")
    }
  }

  @Test func theDescriptionTellsEverythingInALine() {
    let error = HTTPError(
      .truncated, phase: .body, message: "the body was cut off", advice: "Try again", method: .get,
      url: "https://u:s3cret@host/?token=s3cret", status: 200, received: 5)
    #expect(
      error.description
        == "GET https://…@host/?token=…: the body was cut off (status 200, in phase body, 5 bytes received). "
        + "Try again")
  }

  @Test func aBareErrorIsShort() {
    #expect(
      HTTPError(.cancelled, phase: .queue, message: "cancelled").description == "cancelled (in phase queue)")
  }

  @Test func errorsCompareByKind() {
    #expect(HTTPError(.cancelled, phase: .body, message: "x") == .cancelled)
    #expect(HTTPError(.shutdown, phase: .body, message: "x") != .cancelled)
  }

  @Test func namingAddsTheRequestOnce() {
    let bare = HTTPError(.truncated, phase: .decode, message: "m", received: 3, mayHaveBeenProcessed: true)
    let named = bare.naming(method: .post, url: "http://u:p@a/")
    #expect(named.method == "POST" && named.url == "http://…@a/" && named.received == 3)
    #expect(named.mayHaveBeenProcessed)
    #expect(named.naming(method: .get, url: "http://b/").url == "http://…@a/")
    let placed = named.at(status: 206, received: 9)
    #expect(placed.status == 206 && placed.received == 9 && placed.method == "POST")
    #expect(placed.url == "http://…@a/" && placed.mayHaveBeenProcessed)
  }
}

@Suite struct HTTPMethodTests {
  @Test(arguments: ["GET", "get", "M-SEARCH", "!#$%&'*+-.^_`|~", "A1"])
  func tokensAreValid(_ token: String) { #expect(HTTPMethod(token).isValid) }

  @Test(arguments: ["", " ", "GET ", "GET\r\nX: y", "G\u{0}T", "GÉT", "A/B", "A:B", "(A)", "A\u{7F}"])
  func otherTextIsNot(_ token: String) { #expect(!HTTPMethod(token).isValid) }

  @Test func namesAreCaseSensitive() {
    #expect(HTTPMethod("get") != .get)
    #expect(!HTTPMethod("get").isSafe)
  }

  @Test func safetyAndIdempotence() {
    for method: HTTPMethod in [.get, .head, .options, .trace] {
      #expect(method.isSafe && method.isIdempotent && !method.expectsContent)
    }
    for method: HTTPMethod in [.put, .delete] { #expect(!method.isSafe && method.isIdempotent) }
    for method: HTTPMethod in [.post, .patch] { #expect(!method.isIdempotent && method.expectsContent) }
  }
}

@Suite struct WatermarkTests {
  @Test(arguments: [
    (1, 2, 1, 2), (5, 5, 4, 5), (9, 5, 4, 5), (-3, 5, 0, 5), (0, 0, 0, 1), (7, -7, 0, 1),
    (Int.min, Int.min, 0, 1), (Int.max, Int.max, Int.max - 1, Int.max),
  ])
  func limitsAreClamped(_ low: Int, _ high: Int, _ clampedLow: Int, _ clampedHigh: Int) {
    let watermark = Watermark(low: low, high: high)
    #expect(watermark.low == clampedLow && watermark.high == clampedHigh)
  }

  @Test func theStandardIsAQuarterAndAMebibyte() {
    #expect(Watermark.standard == Watermark(low: 262_144, high: 1_048_576))
  }
}
