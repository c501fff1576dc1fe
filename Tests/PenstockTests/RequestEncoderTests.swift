@testable import Penstock
import StreamCore
import Testing

struct RequestEncoderTests {
  private func encode(
    _ request: Request, _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) throws(HTTPError) -> TransportRequest {
    var configuration = ClientConfiguration()
    change(&configuration)
    return try RequestEncoder(configuration).encode(request, reportsUpload: false)
  }

  @Test func `the defaults of a client are added`() throws {
    let headers = try encode(.get("http://h/")).headers
    #expect(headers["User-Agent"] == "penstock/\(PenstockVersion.library)")
    #expect(headers["Accept"] == "*/*")
    #expect(headers["Accept-Encoding"] == AcceptEncoding.value)
    #expect(headers.count == 3)
  }

  @Test func `a request's own fields win and go first`() throws {
    let request = Request.get("http://h/", headers: ["accept": "text/plain", "X": "1", "X": "2"])
    let headers = try encode(request) { $0.headers = ["x": "client", "Y": "client"] }.headers
    #expect(headers[all: "accept"] == ["text/plain"])
    #expect(headers[all: "x"] == ["1", "2"])
    #expect(headers["y"] == "client")
    #expect(headers.first?.name == "accept")
  }

  @Test func `repeated fields of the client are all sent`() throws {
    let headers = try encode(.get("http://h/")) { $0.headers = ["X": "1", "X": "2"] }.headers
    #expect(headers[all: "X"] == ["1", "2"])
  }

  @Test func `a client's field that is no UTF-8 keeps its bytes`() throws {
    var fields = HTTPFields()
    fields.append("X", bytes: [0xE9, 0x41])
    let headers = try encode(.get("http://h/")) { $0.headers = fields }.headers
    #expect(headers.rawValues("x") == [[0xE9, 0x41]])
  }

  @Test func `defaults can be left out by name, whatever the case`() throws {
    var request = Request.get("http://h/")
    request.withoutDefaults = ["user-agent", "ACCEPT", "Accept-Encoding"]
    #expect(try encode(request).headers.isEmpty)
    #expect(try encode(.get("http://h/")) { $0.userAgent = nil }.headers["User-Agent"] == nil)
  }

  @Test func `without decoding nothing is asked for`() throws {
    var request = Request.get("http://h/")
    request.decodesContent = false
    #expect(try encode(request).headers["Accept-Encoding"] == nil)
    request.decodesContent = true
    #expect(try encode(request) { $0.decodesContent = false }.headers["Accept-Encoding"] != nil)
    #expect(try encode(.get("http://h/")) { $0.decodesContent = false }.headers["Accept-Encoding"] == nil)
  }

  @Test func `what the request says for itself beats the client`() throws {
    var request = Request.get("http://h/")
    request.timeouts = TimeLimits()
    request.timeouts?.idle = .seconds(5)
    request.watermark = Watermark(low: 1, high: 2)
    request.version = .http1_1
    request.tls = TLSOptions()
    request.tls?.verifiesName = false
    request.addressing = Addressing()
    request.addressing?.family = .v6
    request.priority = 3
    request.isLongLived = true
    request.mayReplayUnsafe = true
    let options = try encode(request) {
      $0.timeouts.idle = .seconds(9)
      $0.version = .http2
    }.options
    #expect(options.timeouts.idle == .seconds(5) && options.watermark == Watermark(low: 1, high: 2))
    #expect(options.version == .http1_1 && !options.tls.verifiesName && options.addressing.family == .v6)
    #expect(options.priority == 3 && options.isLongLived && options.mayReplayUnsafe)
    let defaults = try encode(.get("http://h/")) {
      $0.timeouts.idle = .seconds(9)
      $0.headLimit.lines = 7
    }.options
    #expect(defaults.timeouts.idle == .seconds(9) && defaults.headLimit.lines == 7)
  }

  @Test func `a client's setting out of range is named`() {
    let changes: [(String, (inout ClientConfiguration) -> Void)] = [
      ("limits.total", { $0.limits.total = 0 }), ("limits.perHost", { $0.limits.perHost = -1 }),
      ("limits.streamsPerConnection", { $0.limits.streamsPerConnection = 0 }),
      ("limits.longLived", { $0.limits.longLived = 0 }), ("loops", { $0.loops = 0 }),
      ("keptConnections", { $0.keptConnections = -1 }), ("memoryBudget", { $0.memoryBudget = .bytes(-1) }),
    ]
    for (name, change) in changes {
      do {
        _ = try encode(.get("http://h/"), change)
        Issue.record("taken: \(name)")
      } catch {
        #expect(error.kind == .invalidConfiguration && error.message.contains(name))
      }
    }
  }
}
