/// Sizes, rates and times for people, in few and steady columns.
enum ProgressFormat {
  /// `0 B`, `999 B`, `1.5 KiB`, `20 MiB`.
  static func bytes(_ count: Int64) -> String {
    let count = max(0, count)
    if count < 1000 { return "\(count) B" }
    var value = Double(count)
    for unit in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
      value /= 1024
      if value < 9.95 {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit)"
      }
      if value < 999.5 { return "\(Int(value.rounded())) \(unit)" }
    }
    return "\(Int(value.rounded())) EiB"
  }

  static func rate(_ bytesPerSecond: Double) -> String {
    guard bytesPerSecond.isFinite, bytesPerSecond > 0 else { return "0 B/s" }
    return bytes(bytesPerSecond < 9e18 ? Int64(bytesPerSecond) : .max) + "/s"
  }

  /// `0:07`, `12:34`, `1:02:03`, `4d`.
  static func time(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds < 1e9 else { return "-:--" }
    let whole = Int(max(0, seconds).rounded(.up))
    if whole >= 345_600 { return "\(whole / 86_400)d" }
    let minutes = whole / 60 % 60
    let tail = padded(whole % 60)
    return whole < 3600 ? "\(minutes):\(tail)" : "\(whole / 3600):\(padded(minutes)):\(tail)"
  }

  /// `45 ms`, `0.4 s`, `42 s`, `12:34`: how long something took.
  static func duration(_ time: Duration) -> String {
    let seconds = max(0, time / .seconds(1))
    if seconds < 0.0995 { return "\(Int((seconds * 1000).rounded())) ms" }
    if seconds < 9.95 {
      let tenths = Int((seconds * 10).rounded())
      return "\(tenths / 10).\(tenths % 10) s"
    }
    return seconds < 59.5 ? "\(Int(seconds.rounded())) s" : self.time(seconds.rounded())
  }

  static func percent(_ received: Int64, of total: Int64) -> Int {
    guard total > 0 else { return 100 }
    return Int(min(100, max(0, Double(received) / Double(total) * 100)))
  }

  private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
