import TestSupport
import Testing

@testable import Penstock
@testable import PenstockCLI

@Suite struct ProgressBoardTests {
  private func board(_ count: Int, running: Int) -> ProgressBoard {
    var board = ProgressBoard(count: count)
    for key in 0..<running {
      board.start(key, name: "file \(key)", at: .zero)
      board.progress(key, progress(Int64(key) << 20, of: 100 << 20), at: .seconds(1))
    }
    return board
  }

  private func progress(_ received: Int64, of total: Int64?) -> TransferProgress {
    var progress = TransferProgress()
    progress.received = received
    progress.total = total
    progress.rate = 1_048_576
    progress.eta = .seconds(7)
    return progress
  }

  @Test func no_frame_is_larger_than_the_terminal() {
    for count in [1, 2, 5, 50] {
      let board = board(count, running: min(count, 40))
      for width in 1...200 {
        for height in [0, 1, 2, 3, 24, 100] {
          let lines = board.lines(width: width, height: height, at: .seconds(1))
          #expect(lines.count == min(height, min(count, 40) + (count > 1 ? 1 : 0)))
          for line in lines where TextColumns.count(line) > width { Issue.record("\(width): \(line)") }
        }
      }
    }
  }

  @Test func the_line_for_all_stays_and_says_how_many_are_hidden() {
    var board = board(20, running: 8)
    board.end(0, bytes: 1 << 20)
    board.end(1, bytes: nil)
    let lines = board.lines(width: 100, height: 4, at: .seconds(1))
    #expect(lines.count == 4)
    #expect(lines[0].hasPrefix("file 2 ") && lines[2].hasPrefix("file 4 "))
    #expect(lines[3].hasPrefix("1 of 20 done, 1 failed, 3 more "))
    #expect(board.line(width: 30, at: .seconds(1))?.hasPrefix("1/20  ") == true)
  }

  @Test func the_total_is_known_when_all_have_begun() throws {
    var board = ProgressBoard(count: 2)
    board.start(1, name: "b", at: .zero)
    board.progress(1, progress(50 << 20, of: 100 << 20), at: .zero)
    #expect(try #require(board.line(width: 100, at: .zero)).contains("50 MiB   1.0 MiB/s"))
    board.start(0, name: "a", at: .zero)
    board.progress(0, progress(0, of: 100 << 20), at: .zero)
    #expect(try #require(board.line(width: 100, at: .zero)).contains("25%  50 MiB of 200 MiB"))
    board.progress(0, progress(10, of: nil), at: .zero)
    #expect(try #require(board.line(width: 100, at: .zero)).contains("%") == false)
  }

  @Test func files_stand_in_the_order_of_their_keys() {
    var board = ProgressBoard(count: 3)
    for key in [2, 0, 1] { board.start(key, name: "n\(key)", at: .zero) }
    let lines = board.lines(width: 80, height: 10, at: .zero)
    #expect(lines.map { String($0.prefix(2)) } == ["n0", "n1", "n2", "0 "])
  }

  @Test func what_sends_nothing_is_called_stalled() {
    let board = board(1, running: 1)
    #expect(board.lines(width: 80, height: 5, at: .seconds(2))[0].contains("MiB/s"))
    let line = board.lines(width: 80, height: 5, at: .seconds(4))[0]
    #expect(line.contains("waiting") && !line.contains("ETA"))
  }

  @Test func messages_are_taken_once() {
    var board = ProgressBoard(count: 1)
    board.say("one")
    board.say("two")
    let (first, second) = (board.takeMessages(), board.takeMessages())
    #expect(first == ["one", "two"] && second.isEmpty)
  }
}

@Suite struct ProgressPainterTests {
  @Test(arguments: 0..<40)
  func frames_leave_what_was_said_and_the_last_lines(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let width = Int.random(in: 10...100, using: &random)
    var screen = ScreenModel(columns: width, height: 12)
    var painter = ProgressPainter()
    var said: [String] = []
    screen.feed("$ penstock\n")
    for _ in 0..<60 {
      let messages = (0..<Int.random(in: 0...2, using: &random)).map { index in
        String(repeating: "m\(index)", count: Int.random(in: 1...(width / 3), using: &random))
      }
      let lines = (0..<Int.random(in: 0...11, using: &random)).map { _ in
        String(repeating: "x", count: Int.random(in: 1...(width - 1), using: &random))
      }
      said += messages
      screen.feed(painter.frame(messages: messages, lines: lines, width: width))
      #expect(screen.text == ["$ penstock"] + said + lines)
    }
    screen.feed(painter.frame(messages: ["end"], lines: [], width: width))
    #expect(screen.text == ["$ penstock"] + said + ["end"])
    #expect(screen.unknown.isEmpty)
  }

  @Test func nothing_to_show_writes_nothing() {
    var painter = ProgressPainter()
    #expect(painter.frame(messages: [], lines: [], width: 80) == "")
  }

  @Test func a_narrower_terminal_has_broken_the_longer_lines() {
    var painter = ProgressPainter()
    let line = String(repeating: "x", count: 70)
    _ = painter.frame(messages: [], lines: [line, line, line], width: 80)
    // Two lines of 70 take four rows of 40; the cursor is at the beginning of the third.
    #expect(painter.frame(messages: [], lines: ["a"], width: 40).hasPrefix("\r\u{1B}[4A"))
  }

  @Test func after_forgetting_nothing_above_is_touched() {
    var painter = ProgressPainter()
    _ = painter.frame(messages: [], lines: ["a", "b"], width: 80)
    painter.forget()
    #expect(!painter.frame(messages: [], lines: ["a", "b"], width: 80).contains("A"))
  }
}
