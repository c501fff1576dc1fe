import Testing

@testable import PenstockCLI

@Suite struct SettingsTests {
  @Test func the_method_follows_from_what_is_sent() throws {
    #expect(try parseGet().effectiveMethod == "GET")
    #expect(try parseGet("-I").effectiveMethod == "HEAD")
    #expect(try parseGet("-d", "a").effectiveMethod == "POST")
    #expect(try parseGet("--json", "{}").effectiveMethod == "POST")
    #expect(try parseGet("-T", "f").effectiveMethod == "PUT")
    #expect(try parseGet("-G", "-d", "a").effectiveMethod == "GET")
    #expect(try parseGet("-d", "a", "-X", "PATCH").effectiveMethod == "PATCH")
  }

  @Test func headers_are_added_removed_and_sent_empty() throws {
    let parsed = try parseGet("-H", "A:  b c ", "-H", "Accept:", "-HX-Empty;", "-H", "A: d", "-H", "B:;")
    #expect(
      parsed.headers == [
        .add(name: "A", value: "b c"), .remove(name: "Accept"), .empty(name: "X-Empty"),
        .add(name: "A", value: "d"), .add(name: "B", value: ";"),
      ])
  }

  @Test(arguments: ["A", "A b: c", ": x", ";", "A: b\r\nC: d", "A: b\nC", "Ä: x", "A : b", "", "A;b"])
  func a_broken_header_is_refused(line: String) {
    #expect(throws: UsageError.self) { try parseGet("-H", line) }
  }

  @Test func fields_follow_from_other_options_unless_named() throws {
    #expect(
      try parseGet("-d", "x").fieldOperations == [
        .add(name: "Content-Type", value: "application/x-www-form-urlencoded")
      ])
    #expect(
      try parseGet("--json", "x", "-H", "accept: */*").fieldOperations == [
        .add(name: "Content-Type", value: "application/json"), .add(name: "accept", value: "*/*"),
      ])
    #expect(
      try parseGet("-u", "Aladdin:open sesame", "-A", "", "-e", "http://r/").fieldOperations == [
        .add(name: "Authorization", value: "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), .remove(name: "User-Agent"),
        .add(name: "Referer", value: "http://r/"),
      ])
    #expect(
      try parseGet("--bearer", "t").fieldOperations == [.add(name: "Authorization", value: "Bearer t")])
    #expect(try parseGet("-G", "-d", "x").fieldOperations.isEmpty)
  }

  @Test func pieces_of_data_are_joined() throws {
    #expect(
      try parseGet("-d", "a=1", "--data-raw", "@b", "--data-binary", "c\n").loadData()
        == Array("a=1&@b&c\n".utf8))
    #expect(try parseGet("--json", "{", "--json", "}").loadData() == Array("{}".utf8))
    #expect(try parseGet("-d", "").loadData() == [])
    #expect(try parseGet("-d", "").effectiveMethod == "POST")
  }

  @Test func line_ends_are_cut_from_a_file_of_form_data_alone() throws {
    let bytes = Array("a\r\nb\0c\n".utf8)
    let file = try TemporaryFile(bytes)
    let cut = try parseGet("-d", "@\(file.path)").loadData()
    let binary = try parseGet("--data-binary", "@\(file.path)").loadData()
    let json = try parseGet("--json", "@\(file.path)").loadData()
    #expect(cut == Array("abc".utf8))
    #expect(binary == bytes && json == bytes)
    try parseGet("-T", file.path).checkFiles()
  }

  @Test func a_file_that_cannot_be_read_is_26() throws {
    let missing = "/nonexistent/file"
    let message = "can't read '\(missing)': No such file or directory"
    let failure = CommandFailure(status: .readFailed, message: message)
    #expect(throws: failure) { try parseGet("-d", "@\(missing)").loadData() }
    #expect(throws: failure) { try parseGet("-T", missing).checkFiles() }
    #expect(throws: failure) { try parseGet("--cacert", missing).checkFiles() }
    #expect(throws: CommandFailure(status: .readFailed, message: "can't read '/tmp': Is a directory")) {
      try parseGet("-T", "/tmp").checkFiles()
    }
    #expect(throws: CommandFailure(status: .readFailed, message: "can't read '/tmp': Is a directory")) {
      try parseGet("-d", "@/tmp").loadData()
    }
  }

  @Test(arguments: [
    ("http://h", "http://h?a%20b=c%26d"), ("http://h/p?x=1", "http://h/p?x=1&a%20b=c%26d"),
    ("http://h/p?", "http://h/p?a%20b=c%26d"), ("http://h/p#f?g", "http://h/p?a%20b=c%26d#f?g"),
    ("http://h/?x&#", "http://h/?x&a%20b=c%26d#"),
  ])
  func query_items_go_before_the_fragment(url: String, expected: String) throws {
    #expect(try parseGet("--url-query", "a b=c&d").requestURL(url, data: []) == expected)
  }

  @Test func get_moves_the_data_into_the_query() throws {
    let parsed = try parseGet("-G", "-d", "a=1", "-d", "b=x y#é")
    #expect(parsed.requestURL("http://h/", data: try parsed.loadData()) == "http://h/?a=1&b=x%20y%23%C3%A9")
    #expect(try parseGet("-d", "a=1").requestURL("http://h/", data: [1]) == "http://h/")
  }

  @Test(arguments: [
    ("http://h", "http://h/a%20b"), ("http://h/", "http://h/a%20b"), ("http://h/d/?q", "http://h/d/a%20b?q"),
    ("http://h/d", "http://h/d"), ("http://", "http://"), ("", ""),
  ])
  func an_upload_to_a_directory_gets_the_name_of_the_file(url: String, expected: String) throws {
    #expect(try parseGet("-T", "/x/a b").requestURL(url, data: []) == expected)
    #expect(try parseGet("-T", "-").requestURL(url, data: []) == url)
  }

  @Test func later_flags_win_unless_they_contradict() throws {
    #expect(throws: UsageError.self) { try parseGet("--http1.1", "--http2") }
    #expect(try parseGet("-64").ipVersion == .v4)
    #expect(try parseGet().decodesContent)
    #expect(try parseGet("--compressed", "--no-compressed").decodesContent == false)
  }

  @Test func addresses_for_hosts() throws {
    #expect(
      try parseGet("--resolve", "h:80:127.0.0.1", "--resolve", "g:443:[::1]").resolutions == [
        Settings.Resolution(host: "h", port: 80, address: "127.0.0.1"),
        Settings.Resolution(host: "g", port: 443, address: "::1"),
      ])
    #expect(try parseGet("--resolve", "h:80:fe80::1").resolutions.first?.address == "fe80::1")
  }

  @Test(arguments: [
    "h", "h:80", "h:0:1.2.3.4", "h:x:1.2.3.4", ":80:1.2.3.4", "h:80:name", "h:99999:1.1.1.1", "*:80:1.1.1.1",
  ])
  func a_broken_address_is_refused(text: String) {
    #expect(throws: UsageError.self) { try parseGet("--resolve", text) }
  }

  @Test func the_path_of_a_socket_has_a_limit() throws {
    #expect(try parseGet("--unix-socket", "/run/s").unixSocket == "/run/s")
    #expect(throws: UsageError.self) {
      try parseGet("--unix-socket", String(repeating: "a", count: 108))
    }
  }
}
