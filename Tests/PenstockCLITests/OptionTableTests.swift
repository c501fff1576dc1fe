import Testing

@testable import PenstockCLI

@Suite struct OptionTableTests {
  @Test func no_letter_and_no_name_stands_for_two_options() {
    let letters = OptionTable.all.compactMap(\.letter)
    let names = OptionTable.all.map(\.name)
    #expect(Set(letters).count == letters.count)
    #expect(Set(names).count == names.count)
  }

  @Test func every_option_says_what_it_does_and_belongs_to_a_verb() {
    for option in OptionTable.all {
      #expect(!option.help.isEmpty, "\(option.name)")
      #expect(!option.verbs.isEmpty, "\(option.name)")
      #expect(!option.name.hasPrefix("-") && !option.name.contains("="), "\(option.name)")
    }
  }

  @Test func only_what_takes_a_value_has_a_placeholder() {
    for option in OptionTable.all {
      switch option.action {
      case .value: #expect(option.placeholder != nil)
      case .flag, .help, .version: #expect(option.placeholder == nil)
      }
    }
  }

  @Test func every_option_of_the_contract_is_there() {
    let contract = """
      request header data data-binary data-raw json form upload-file get url-query head user digest bearer netrc
      netrc-file aws-sigv4 cookie cookie-jar user-agent referer max-redirs location-trusted insecure cacert capath
      cert key pinnedpubkey tlsv1.2 tlsv1.3 proxy noproxy proxy-user unix-socket resolve interface ipv4 ipv6 http1.1
      http2 connect-timeout first-byte-timeout idle-timeout max-time compressed no-compressed max-body retry
      retry-all-methods retry-max-delay max-line limit-rate fail include verbose silent curl ndjson no-reconnect
      output dir remote-name overwrite continue no-continue segments mirror checksum remote-time parallel progress
      per-host rate adaptive body order fail-fast dedupe state help version
      """
    for name in contract.split(whereSeparator: \.isWhitespace) {
      #expect(OptionTable.option(named: String(name)) != nil, "\(name)")
    }
  }

  @Test(arguments: Verb.allCases)
  func help_fits_eighty_columns_and_shows_what_there_is_now(verb: Verb) {
    let text = HelpText.text(for: verb)
    for line in text.split(separator: "\n") {
      #expect(line.count <= 80, "\(line)")
      #expect(line.last != " ", "\(line)")
    }
    guard verb != .help else { return }
    for option in OptionTable.all {
      let isShown = text.contains("--\(option.name) ") || text.contains("--\(option.name)\n")
      #expect(isShown == option.verbs.contains(verb), "\(option.name)")
    }
  }

  @Test func the_overview_names_the_verbs_of_this_build_alone() {
    let text = HelpText.text(for: nil)
    for verb in Verb.allCases { #expect(text.contains("  \(verb.rawValue) ")) }
  }
}
