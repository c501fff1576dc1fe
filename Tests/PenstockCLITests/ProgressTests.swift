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
            let line = ProgressBar.render(
              width: width, received: received, total: total, rate: rate, eta: eta, name: name)
            if TextColumns.count(line) > width || line.isEmpty { Issue.record("\(width): \(line)") }
            if line.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
              Issue.record("control character: \(line)")
            }
          }
        }
      }
    }
  }

  @Test func the_bar_at_some_widths() {
    func bar(_ width: Int, total: Int64? = 2 << 30) -> String {
      ProgressBar.render(
        width: width, received: 1 << 30, total: total, rate: 536_870_912, eta: 2, name: "big.iso")
    }
    #expect(bar(80) == "big.iso  [===========>           ]  50%  1.0 GiB of 2.0 GiB  512 MiB/s  ETA 0:02")
    #expect(bar(40) == "50%  1.0 GiB of 2.0 GiB  512 MiB/s")
    #expect(bar(4) == "50%")
    #expect(bar(2) == "..")
    #expect(bar(60, total: nil) == "big.iso  1.0 GiB  512 MiB/s  ETA 0:02")
    #expect(bar(80, total: 5) == "big.iso  1.0 GiB  512 MiB/s  ETA 0:02")
  }

  @Test func no_width_is_no_text() {
    #expect(ProgressBar.render(width: 0, received: 0, total: nil, rate: nil, eta: nil, name: "a") == "")
    #expect(ProgressBar.render(width: -1, received: 0, total: nil, rate: nil, eta: nil, name: "a") == "")
  }

  @Test(arguments: [
    (Int64(0), "0 B"), (999, "999 B"), (1000, "1.0 KiB"), (1536, "1.5 KiB"), (20 << 20, "20 MiB"),
    (1023 << 20, "1.0 GiB"), (.max, "8.0 EiB"), (-1, "0 B"),
  ])
  func sizes_for_people(count: Int64, expected: String) {
    #expect(ProgressFormat.bytes(count) == expected)
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
