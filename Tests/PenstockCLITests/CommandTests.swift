import Testing

@testable import PenstockCLI

@Suite struct CommandTests {
  @Test func help_goes_to_standard_output_and_succeeds() async throws {
    for script in [#""$penstock" help get"#, #""$penstock" get --help"#] {
      let command = try await CommandProcess(script)
      #expect(command.status == 0)
      #expect(command.output == HelpText.text(for: .get))
      #expect(command.error.isEmpty)
    }
  }

  @Test func a_wrong_command_line_is_one_line_and_status_2() async throws {
    let command = try await CommandProcess(#""$penstock" get --sillent http://h/"#)
    #expect(command.status == 2)
    #expect(command.output.isEmpty)
    #expect(command.error == "penstock: unknown option '--sillent' (did you mean --silent?)\n")
  }

  @Test func an_argument_that_is_not_utf8_is_refused() async throws {
    let command = try await CommandProcess(#""$penstock" get "$(printf 'a\377')""#)
    #expect(command.status == 2)
    #expect(command.error == "penstock: argument 2 is not valid UTF-8\n")
  }

  @Test func output_that_cannot_be_written_is_23() async throws {
    let full = try await CommandProcess(#""$penstock" help >/dev/full"#)
    #expect(full.status == 23)
    #expect(full.error == "penstock: writing to the output failed: No space left on device\n")
    let closed = try await CommandProcess(#""$penstock" help >&-"#)
    #expect(closed.status == 23)
    #expect(closed.error == "penstock: writing to the output failed: Bad file descriptor\n")
  }

  @Test func a_reader_that_has_left_ends_the_run_without_a_word() async throws {
    // The reader is gone before anything is written: the fifo's only reader has been closed.
    let script = #"""
      dir=$(mktemp -d) && mkfifo "$dir/f" && exec 3<>"$dir/f" 4>"$dir/f" 3>&- && "$penstock" help >&4
      status=$?; rm -r "$dir"; exit $status
      """#
    let command = try await CommandProcess(script)
    #expect(command.status == 23)
    #expect(command.error.isEmpty)
  }
}
