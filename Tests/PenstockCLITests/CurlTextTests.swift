import Penstock
import Testing

@testable import PenstockCLI

@Suite struct CurlTextTests {
  private func text(_ arguments: [String]) throws -> String {
    guard case .run(let settings) = try CommandLineParser.parse(arguments) else { return "" }
    return CurlText.text(settings)
  }

  private let agent = "-A penstock/\(PenstockVersion.library)"

  @Test func `a plain get`() throws {
    let text = try text(["get", "--curl", "http://h/"])
    #expect(text == "curl -L --max-redirs 20 --compressed \(agent) http://h/")
  }

  @Test func `what curl has is there in its order and spelling`() throws {
    let text = try text(
      [
        "get", "--curl", "--request=PUT", "-HX-Plain: b", "--data-binary", "@f", "-I", "--bearer", "t",
        "--max-redirs", "0",
        "--no-compressed", "-A", "me", "--http1.1", "-4", "--connect-timeout", "2.5", "--limit-rate", "10k",
        "-f",
        "--first-byte-timeout", "3", "--max-body", "5k", "http://h/",
      ].filter { $0 != "-I" })
    #expect(
      text
        == "curl -X PUT -H 'X-Plain: b' --data-binary @f --oauth2-bearer '…' -A me --http1.1 -4 --connect-timeout 2.5 "
        + "--limit-rate 10k -f --max-filesize 5k http://h/")
  }

  @Test func `secrets are cut`() throws {
    let text = try text([
      "get", "--curl", "-u", "me:hush", "-H", "Authorization: hush", "-H", "X-Api-Key:hush", "-b",
      "a=hush; b=hush", "-b",
      "jar.txt", "-G", "-d", "token=hush&x=1", "--url-query", "sig=hush",
      "http://u:hush@h/?access_token=hush",
    ])
    #expect(!text.contains("hush"))
    for part in ["me:…", "a=…; b=…", "-b jar.txt", "'token=…&x=1'", "'http://…@h/?access_token=…'"] {
      #expect(text.contains(part), "\(part)")
    }
  }

  @Test func `other verbs`() throws {
    let download = try text(["download", "--curl", "http://h/f"])
    #expect(download == "curl -L --max-redirs 20 \(agent) -O http://h/f")
    let named = try text(["download", "--curl", "-o", "x y", "http://h/f"])
    #expect(named == "curl -L --max-redirs 20 \(agent) -o 'x y' http://h/f")
    let events = try text(["events", "--curl", "http://h/f"])
    #expect(events == "curl -L --max-redirs 20 --compressed \(agent) -N http://h/f")
  }

  private func batch(_ arguments: [String], _ line: String) throws -> String {
    guard case .run(let settings) = try CommandLineParser.parse(["batch", "--curl"] + arguments) else {
      return ""
    }
    return CurlText.text(settings, try #require(BatchLineParser.parse(Array(line.utf8), number: 1)))
  }

  @Test func `an input of a batch`() throws {
    let start = "curl -L --max-redirs 20 --compressed \(agent)"
    #expect(try batch(["-j", "5", "--state", "f"], "http://h/a") == "\(start) http://h/a")
    let post = try batch(
      ["-H", "X-A: all", "-H", "X-B: all"],
      #"{"url":"http://h/","body":"@x","headers":[["x-a","one"],["Authorization","hush"]]}"#)
    #expect(
      post
        == "\(start) -H 'X-B: all' -H 'x-a: one' -H 'Authorization: …' --data-raw @x -H Content-Type: http://h/"
    )
    #expect(
      try batch(["-d", "all", "-X", "PUT"], #"{"url":"http://h/","method":"PATCH","body":"one"}"#)
        == "\(start) -X PATCH --data-raw one http://h/")
    #expect(
      try batch(["--json", "{}"], #"{"url":"http://h/","body":"[1]"}"#)
        == "\(start) --data-raw '[1]' -H 'Content-Type: application/json' -H 'Accept: application/json' http://h/"
    )
    #expect(try batch(["-I"], "http://h/") == "\(start) -I http://h/")
    #expect(try batch(["-I"], #"{"url":"http://h/","method":"GET"}"#) == "\(start) http://h/")
    #expect(
      try batch(["--dir", "d"], #"{"url":"http://h/?token=hush","file":"a/b"}"#)
        == "\(start) --output-dir d -o a/b 'http://h/?token=…'")
  }

  @Test(arguments: [
    ["-X", "PATCH", "-d", "a=1", "-H", "X-A: it's"], ["--json", "{\"a\":1}"], ["-F", "a=b;type=x/y"],
    ["-T", "/etc/hostname"],
    ["-G", "-d", "a=1"], ["-I"], ["-A", ""], ["-e", "http://r/"], ["-b", "a=1"], ["--url-query", "a=b c"],
    ["-k", "-6"],
    ["-m", "1.5", "--limit-rate", "1M"], ["-H", "Accept:"], ["-H", "X-E;"], ["--resolve", "h:80:127.0.0.1"],
    ["--location-trusted"], ["--max-redirs", "5"], ["--http2"], ["--unix-socket", "/s"],
  ])
  func `the library reads the command back as the request that the command line makes`(_ options: [String])
    throws
  {
    guard case .run(let settings) = try CommandLineParser.parse(["get"] + options + ["http://h/p?q=1"]) else {
      return
    }
    let shown = try text(["get", "--curl"] + options + ["http://h/p?q=1"])
    guard !shown.contains("…") else { return }
    let data = try settings.loadData()
    let made = RequestBuilder.request(settings, url: settings.urls[0], data: data)
    let read = try Request(curl: shown)
    #expect(read.method == made.method)
    #expect(read.url == made.url)
    var fields = made.headers
    if let type = made.body.contentType, !fields.contains("Content-Type") {
      fields.append("Content-Type", type)
    }
    var other = read.headers
    if let type = read.body.contentType, !other.contains("Content-Type") {
      other.append("Content-Type", type)
    }
    if settings.userAgent == nil { other.removeAll("User-Agent") }
    let normal = { (fields: HTTPFields) in
      fields.map { "\($0.name): \($0.value.hasPrefix("multipart") ? "form" : $0.value)" }.sorted()
    }
    #expect(normal(other) == normal(fields))
    if case .bytes(let bytes) = made.body.content, case .bytes(let again) = read.body.content {
      #expect(bytes == again)
    }
    #expect(read.rateLimit == made.rateLimit)
  }
}
