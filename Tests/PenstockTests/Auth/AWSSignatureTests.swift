import StreamCore
import TestSupport
import Testing

@testable import Penstock

/// AWS's published examples.
@Suite struct AWSSignatureTests {
  private static let client = Client(transport: NoTransport())

  private struct NoTransport: Transport {
    func open(_ request: TransportRequest) throws(HTTPError) -> Exchange {
      throw HTTPError(.transport, phase: .queue, message: "nothing is sent here")
    }
  }

  private func signed(
    _ request: Request, secret: String, id: String, region: String = "us-east-1", service: String,
    time: Int64, token: String? = nil, payload: AWSCredential.Payload = .hashed
  ) async throws -> Request {
    let keys = AWSCredential.Keys(id: id, secret: secret, sessionToken: token)
    let credential = AWSCredential(region: region, service: service, payload: payload, now: { time }) {
      () async throws(HTTPError) in keys
    }
    var request = request
    var context = CredentialContext(
      client: Self.client, origin: try HTTPOrigin(of: request.url), hop: 0, resends: 0)
    try await credential.authorize(&request, &context)
    return request
  }

  // 2013-05-24T00:00:00Z
  private func s3(_ request: Request) async throws -> Request {
    try await signed(
      request, secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", id: "AKIAIOSFODNN7EXAMPLE", service: "s3",
      time: 1_369_353_600)
  }

  // 2015-08-30T12:36:00Z
  private func suite(_ request: Request, service: String = "service") async throws -> Request {
    try await signed(
      request, secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", id: "AKIDEXAMPLE", service: service,
      time: 1_440_938_160)
  }

  private func signature(_ request: Request) -> String? {
    request.headers["Authorization"]?.split(separator: "Signature=").last.map { String($0) }
  }

  @Test func `S3's example of a part of an object`() async throws {
    let request = try await s3(
      .get("https://examplebucket.s3.amazonaws.com/test.txt", headers: ["Range": "bytes=0-9"]))
    #expect(
      request.headers["Authorization"]
        == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
        + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    #expect(request.headers["X-Amz-Date"] == "20130524T000000Z")
  }

  @Test func `S3's example of an upload, with a dollar in the path`() async throws {
    let request = try await s3(
      .put(
        "https://examplebucket.s3.amazonaws.com/test$file.text",
        headers: ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
        body: .string("Welcome to Amazon S3.")))
    #expect(signature(request) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
  }

  @Test(arguments: [
    ("?lifecycle", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
    ("?max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ("?prefix=J&max-keys=2", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
  ])
  func `S3's examples of queries, in any order`(_ query: String, _ expected: String) async throws {
    let request = try await s3(.get("https://examplebucket.s3.amazonaws.com/" + query))
    #expect(signature(request) == expected)
  }

  @Test func `IAM's example`() async throws {
    let request = try await suite(
      .get(
        "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
        headers: ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"]), service: "iam")
    #expect(signature(request) == "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7")
  }

  @Test(arguments: [
    ("GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    ("POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    (
      "GET", "/?Param2=value2&Param1=value1",
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
    ),
  ])
  func `the test suite's plain requests`(_ method: String, _ path: String, _ expected: String) async throws {
    let request = try await suite(Request(HTTPMethod(method), "https://example.amazonaws.com" + path))
    #expect(signature(request) == expected)
  }

  @Test func `queries are sorted by name, then value, in bytes, each encoded once`() {
    func query(_ text: String) -> String {
      AWSSignature.Canonical(
        method: "GET", path: "/", query: text, fields: [], payload: "", encodesPathTwice: true
      ).canonicalQuery
    }
    #expect(query("b=2&a=z&a=b&B=1&c") == "B=1&a=b&a=z&b=2&c=")
    #expect(query("x=%7e&y=a/b&z=%e4") == "x=~&y=a%2Fb&z=%E4")
    #expect(query("") == "")
    #expect(query("k==v&&a") == "a=&k=%3Dv")
  }

  @Test func `paths are encoded twice but for S3, repeats of fields are joined, blanks folded`() {
    func canonical(_ path: String, _ twice: Bool) -> AWSSignature.Canonical {
      AWSSignature.Canonical(
        method: "GET", path: path, query: "", fields: [("My-Header", " a   b "), ("my-header", "c")],
        payload: "p", encodesPathTwice: twice)
    }
    #expect(canonical("/a%20b/ü", false).canonicalPath == "/a%20b/%C3%BC")
    #expect(canonical("/a%20b", true).canonicalPath == "/a%2520b")
    #expect(canonical("/a%2Fb/c", false).canonicalPath == "/a%2Fb/c")
    #expect(canonical("/a%2Fb/c", true).canonicalPath == "/a%252Fb/c")
    #expect(canonical("/", true).text == "GET\n/\n\nmy-header:a b,c\n\nmy-header\np")
  }

  @Test func `a plus in the query is sent as the blank that it is signed as`() async throws {
    let request = try await suite(.get("https://example.amazonaws.com/?q=a+b%2Bc#f"))
    #expect(request.url == "https://example.amazonaws.com/?q=a%20b%2Bc#f")
  }

  @Test func `tokens are signed, what proxies change isn't, and bodies that can't be read ahead are told`()
    async throws
  {
    let folder = try TestFolder()
    folder.write("abc", to: "file")
    var request = try await signed(
      .put("https://s3.example/b", headers: ["User-Agent": "x"], body: .file(folder("file"))), secret: "s",
      id: "i",
      service: "s3", time: 0, token: "tok")
    #expect(
      request.headers["X-Amz-Content-Sha256"]
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    let field = try #require(request.headers["Authorization"])
    #expect(field.contains("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"))
    #expect(!request.headers.description.contains("tok"))
    let stream = RequestBody.stream(AsyncStream<[UInt8]> { $0.finish() })
    request = try await signed(
      .put("https://s3.example/b", body: stream), secret: "s", id: "i", service: "s3", time: 0)
    #expect(request.headers["X-Amz-Content-Sha256"] == "UNSIGNED-PAYLOAD")
    let error = await #expect(throws: HTTPError.self) {
      _ = try await signed(
        .put("https://x.example/", body: stream), secret: "s", id: "i", service: "sqs", time: 0)
    }
    #expect(error?.kind == .invalidBody)
  }

  @Test func `curl's notation names provider, region and service, or the host does`() async throws {
    func field(_ text: String, _ url: String) async throws -> String? {
      let credential = try AWSCredential(curl: text, url: url, .init(id: "i", secret: "s"))
      var request = Request.get(url)
      var context = CredentialContext(
        client: Self.client, origin: try HTTPOrigin(of: url), hop: 0, resends: 0)
      try await credential.authorize(&request, &context)
      return request.headers["Authorization"]
    }
    #expect(
      try await field("aws:amz:eu-west-1:sqs", "https://h.example/")?.contains("/eu-west-1/sqs/aws4_request")
        == true)
    #expect(
      try await field("aws:amz", "https://s3.eu-west-1.amazonaws.com/")?.contains(
        "/eu-west-1/s3/aws4_request") == true)
    let other = try await field("test:example:r:s", "https://h.example/")
    #expect(other?.hasPrefix("TEST4-HMAC-SHA256 ") == true)
    #expect(other?.contains("SignedHeaders=host;x-example-date,") == true)
    #expect(throws: HTTPError.self) {
      _ = try AWSCredential(curl: "aws:amz", url: "https://localhost/", .init(id: "i", secret: "s"))
    }
  }
}
