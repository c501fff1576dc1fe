import Foundation
import Penstock

/// A progress bar on one line of a terminal; elsewhere one line a second.
struct Bar {
  private let isTerminal = isatty(1) == 1
  private var lastLine = ContinuousClock.now - .seconds(1)

  mutating func draw(_ progress: TransferProgress) {
    let fraction = progress.fraction ?? 0
    let filled = Int(fraction * 40)
    let line =
      "   [" + String(repeating: "#", count: filled) + String(repeating: "-", count: 40 - filled) + "] "
      + "\(Int(fraction * 100))%  \(Bar.rounded(progress.rate / 1e9)) GB/s"
    if isTerminal {
      print("\r" + line, terminator: "  ")
      fflush(nil)
    } else if ContinuousClock.now - lastLine >= .seconds(1) {
      lastLine = .now
      print(line)
    }
  }

  func end() {
    if isTerminal { print() }
  }

  static func rounded(_ value: Double) -> String { String(format: "%.2f", value) }
}

/// What the kernel says of this process.
enum Memory {
  static var peakMebibytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) / 1024
  }
}
