import Testing

@testable import PenstockCLI

@Suite struct ProgressTests {
  static let names = [
    "", "a", "big.iso", String(repeating: "long-name-", count: 30), "日本語のファイル.iso",
    "e\u{301}\n\u{1B}[2J\u{200B}😀",
  ]

  @Test(arguments: names)
  func the_bar_is_never_wider_than_it_may_be(name: String) {
    let totals: [Int64?] = [nil, 0, 2 << 30, .max]
    for width in 1...200 {
      for total in totals {
        for received: Int64 in [0, 1 << 30, .max] {
          for (rate, eta) in [(nil, nil), (1.5e9, 3), (Double.infinity, Double.nan), (1e300, 1e300)]
            as [(Double?, Double?)]
          {
            let line = Self.line(width, name, received, total, rate, eta)
            if TextColumns.count(line) > width || line.isEmpty { Issue.record("\(width): \(line)") }
            if line.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
              Issue.record("control character: \(line)")
            }
          }
        }
      }
    }
  }

  private static func line(
    _ width: Int, _ name: String, _ received: Int64, _ total: Int64?, _ rate: Double?, _ eta: Double?
  ) -> String {
    let row = ProgressBar.Row(name: name, received: received, total: total, rate: rate, eta: eta)
    return ProgressBar.render([row], width: width)[0]
  }

  @Test func the_bar_at_some_widths() {
    func bar(_ width: Int, total: Int64? = 2 << 30) -> String {
      Self.line(width, "big.iso", 1 << 30, total, 536_870_912, 2)
    }
    #expect(bar(80) == "big.iso  [==========>          ]   50%  1.0 GiB of 2.0 GiB   512 MiB/s  ETA 0:02")
    #expect(bar(45) == "big.iso   50%  1.0 GiB of 2.0 GiB   512 MiB/s")
    #expect(bar(26) == "big.iso   50%   512 MiB/s")
    #expect(bar(13) == "big.iso   50%")
    #expect(bar(4) == "50%")
    #expect(bar(2) == "..")
    #expect(bar(60, total: nil) == "big.iso  1.0 GiB   512 MiB/s  ETA 0:02")
    #expect(bar(80, total: 5) == "big.iso  1.0 GiB   512 MiB/s  ETA 0:02")
  }

  @Test func the_facts_of_several_stand_in_columns() {
    let rows = [
      ProgressBar.Row(name: "a", received: 5 << 20, total: 10 << 20, rate: 1_048_576, eta: 5),
      ProgressBar.Row(name: "a longer name.iso", received: 1 << 30, rate: 2e9),
      ProgressBar.Row(name: "c", received: 9, total: 2000, remark: "stalled"),
    ]
    let lines = ProgressBar.render(rows, width: 99)
    #expect(
      lines == [
        "a                  [===============>               ]   50%  5.0 MiB of 10 MiB   1.0 MiB/s  ETA 0:05",
        "a longer name.iso                                                     1.0 GiB   1.9 GiB/s",
        "c                  [>                              ]    0%     9 B of 2.0 KiB     stalled",
      ])
  }

  @Test func no_width_is_no_text() {
    #expect(Self.line(0, "a", 0, nil, nil, nil) == "")
    #expect(Self.line(-1, "a", 0, nil, nil, nil) == "")
  }

  @Test(arguments: [
    (Int64(0), "0 B"), (999, "999 B"), (1000, "1.0 KiB"), (1536, "1.5 KiB"), (20 << 20, "20 MiB"),
    (1023 << 20, "1.0 GiB"), (.max, "8.0 EiB"), (-1, "0 B"),
  ])
  func sizes_for_people(count: Int64, expected: String) {
    #expect(ProgressFormat.bytes(count) == expected)
  }

  @Test(arguments: [
    (0.0, "0 ms"), (0.045, "45 ms"), (0.42, "0.4 s"), (3.0, "3.0 s"), (42.4, "42 s"), (754.0, "12:34"),
    (-1.0, "0 ms"),
  ])
  func durations_for_people(seconds: Double, expected: String) {
    #expect(ProgressFormat.duration(.seconds(seconds)) == expected)
  }

  @Test(arguments: [
    (0.0, "0:00"), (6.2, "0:07"), (754.0, "12:34"), (3723.0, "1:02:03"), (400_000.0, "4d"),
    (.infinity, "-:--"),
    (-3.0, "0:00"), (.nan, "-:--"),
  ])
  func times_for_people(seconds: Double, expected: String) {
    #expect(ProgressFormat.time(seconds) == expected)
  }

  @Test func few_of_many_updates_are_due() {
    var pacing = ProgressPacing(interval: .seconds(1), delay: .seconds(1))
    let due = (0..<40).filter { pacing.isDue(at: .milliseconds(100 * $0)) }
    #expect(due == [10, 20, 30])
    var eager = ProgressPacing(interval: .milliseconds(100))
    let first = eager.isDue(at: .zero)
    let second = eager.isDue(at: .milliseconds(99))
    #expect(first && !second)
  }
}
