import TestSupport
import Testing

@testable import PenstockCLI

/// Parses `get` with one URL and these arguments before it.
func parseGet(_ arguments: String...) throws -> Settings {
  try settings(["get"] + arguments + ["http://h/"])
}

func settings(_ arguments: [String]) throws -> Settings {
  guard case .run(let settings) = try CommandLineParser.parse(arguments) else {
    throw UsageError("not a run")
  }
  return settings
}

@Suite struct CommandLineParserTests {
  @Test(arguments: [
    ["-XPUT"], ["-X", "PUT"], ["--request", "PUT"], ["--request=PUT"], ["-X", "GET", "-XPUT"],
  ])
  func a_value_is_attached_or_follows(arguments: [String]) throws {
    #expect(try settings(["get"] + arguments + ["http://h/"]).method == "PUT")
    #expect(try settings(arguments + ["get", "http://h/"]).method == "PUT")
    #expect(try settings(["get", "http://h/"] + arguments).method == "PUT")
  }

  @Test func short_flags_are_bundled_and_the_last_may_take_a_value() throws {
    let parsed = try parseGet("-svkXDELETE")
    #expect(parsed.isSilent && parsed.isVerbose && parsed.isInsecure)
    #expect(parsed.method == "DELETE")
    #expect(try parseGet("-sX", "DELETE").method == "DELETE")
  }

  @Test func a_double_dash_ends_the_options() throws {
    #expect(try settings(["get", "--", "-s", "--", "-"]).urls == ["-s", "--", "-"])
    #expect(try settings(["--", "get", "u"]).urls == ["u"])
  }

  @Test func a_value_may_look_like_an_option() throws {
    #expect(try parseGet("-d", "--silent").data.first?.content == .text("--silent"))
    #expect(try parseGet("-T", "-").upload == .standardInput)
    #expect(try parseGet("-o", "-").output == .standardOutput)
  }

  @Test func many_urls_for_get_and_one_for_events() throws {
    #expect(try settings(["get", "a", "-s", "b"]).urls == ["a", "b"])
    #expect(throws: UsageError("events takes one URL, not 2")) { try settings(["events", "a", "b"]) }
  }

  @Test(arguments: ["--req", "--reques", "--sil", "--max"])
  func a_long_name_is_not_abbreviated(argument: String) {
    #expect(throws: UsageError.self) { try settings(["get", argument, "POST", "http://h/"]) }
  }

  static let refused: [([String], String)] = [
    ([], "no verb given; 'penstock help' tells what there is"),
    (["-s"], "no verb given; 'penstock help' tells what there is"),
    (["gte", "u"], "unknown verb 'gte' (did you mean get?)"),
    (["evnets"], "unknown verb 'evnets' (did you mean events?)"),
    (["zzzzzz"], "unknown verb 'zzzzzz'"),
    (["http://h/"], "unknown verb 'http://h/' (did you mean 'penstock get URL'?)"),
    (["batch", "a", "b"], "batch takes one file, not 2"),
    (["help", "nothing"], "unknown verb 'nothing'"),
    (["help", "get", "events"], "help takes one verb at most"),
    (["help", "-s"], "-s is not an option of help"),
    (["get"], "get: a URL is missing"),
    (["get", "-X"], "-X needs a value: METHOD"),
    (["get", "u", "--request"], "--request needs a value: METHOD"),
    (["get", "--sillent", "u"], "unknown option '--sillent' (did you mean --silent?)"),
    (["get", "--output-nothing", "u"], "unknown option '--output-nothing'"),
    (["get", "--password=secret", "u"], "unknown option '--password'"),
    (["get", "-sZ", "u"], "unknown option '-Z'"),
    (["get", "-L", "u"], "unknown option '-L' (redirects are followed by default; see --max-redirs)"),
    (["get", "--silent=1", "u"], "--silent takes no value"),
    (["get", "--body", "text", "u"], "--body is not an option of get"),
    (["events", "-o", "f", "u"], "-o is not an option of events"),
    (["events", "--body", "hex", "u"], "--body: 'hex' is none of base64, text and none"),
    (["get", "--key", "k", "u"], "--key needs --cert"),
    (["get", "-sFa", "u"], "-F: a form field is NAME=VALUE or NAME=@FILE"),
    (["get", "-m", "-1", "u"], "-m: '-1' is negative"),
    (["get", "--max-time=abc", "u"], "--max-time: 'abc' is not a number of seconds"),
    (
      ["get", "--max-body", "3q", "u"], "--max-body: '3q' is not a size: a number, then k, M or G or nothing"
    ),
    (["get", "--max-redirs", "-1", "u"], "--max-redirs: '-1' is negative"),
    (["get", "--max-redirs", "1.5", "u"], "--max-redirs: '1.5' is not a whole number"),
    (["get", "-X", "A B", "u"], "-X: 'A B' is not a method"),
    (["get", "-X", "", "u"], "-X: '' is not a method"),
    (["get", "-X", "A\r\nB", "u"], "-X: 'A\\u{d}\\u{a}B' is not a method"),
    (["get", "-u", "name", "u"], "-u: USER:PASSWORD is needed"),
    (["get", "--bearer", "a b", "u"], "--bearer: a token is printable ASCII without blanks"),
    (["get", "--url-query", "a", "u"], "--url-query: 'a' is not NAME=VALUE"),
    (["get", "-d", "@", "u"], "-d: a file name is missing"),
    (["get", "-A", "a\nb", "u"], "-A: the value of User-Agent holds a CR, LF or NUL"),
    (["get", "-T", "f", "-d", "x", "u"], "-T and -d can't be used together: one body a request"),
    (["get", "-I", "-d", "x", "u"], "-I and -d can't be used together; -G puts data into the query"),
    (["get", "-d", "@-", "-d", "@-", "u"], "standard input can be read only once"),
    (["get", "-T", "-", "a", "b"], "standard input can be uploaded to one URL only"),
  ]

  @Test(arguments: refused)
  func what_is_wrong_is_told_in_one_line(arguments: [String], message: String) {
    #expect(throws: UsageError(message)) { try CommandLineParser.parse(arguments) }
    #expect(!message.contains("\n"))
  }

  @Test(arguments: [
    ["get", "--help"], ["--help", "get"], ["get", "-h", "u"], ["help", "get"], ["get", "-sh"],
  ])
  func help_for_a_verb(arguments: [String]) throws {
    #expect(try CommandLineParser.parse(arguments) == .help(.get))
  }

  @Test func help_and_version_without_a_verb() throws {
    #expect(try CommandLineParser.parse(["help"]) == .help(nil))
    #expect(try CommandLineParser.parse(["--help"]) == .help(nil))
    #expect(try CommandLineParser.parse(["-h"]) == .help(nil))
    #expect(try CommandLineParser.parse(["--version"]) == .version)
    #expect(try CommandLineParser.parse(["get", "--version"]) == .version)
  }

  @Test func a_secret_in_a_wrong_argument_is_not_shown() {
    let secrets: [[String]] = [
      ["http://user:hunter2@h/"], ["get", "-H", "Authorization hunter2", "u"], ["get", "-u", "hunter2", "u"],
      ["get", "--bearer", "hunter2 hunter2", "u"], ["get", "-H", "Cookie: hunter2\r\nX: y", "u"],
    ]
    for arguments in secrets {
      do {
        _ = try CommandLineParser.parse(arguments)
        Issue.record("accepted: \(arguments)")
      } catch {
        #expect(!error.message.contains("hunter2"))
      }
    }
  }

  @Test func random_arguments_never_trap() {
    var generator = SeededGenerator(seed: 2)
    let words =
      OptionTable.all.flatMap { ["--" + $0.name, "--\($0.name)=1", $0.letter.map { "-\($0)" } ?? "-"] }
      + [
        "get", "events", "help", "http://h/", "-", "--", "", "a:b", "é", "-é", "--é=", "-\u{301}", "1k",
        "0.5",
      ]
    for _ in 0..<3000 {
      let arguments = (0..<Int.random(in: 0...6, using: &generator)).compactMap { _ in
        words.randomElement(using: &generator)
      }
      do { _ = try CommandLineParser.parse(arguments) } catch { #expect(!error.message.isEmpty) }
    }
  }
}
