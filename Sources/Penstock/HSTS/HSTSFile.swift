import Glibc

/// The text of a store, in curl's form: a host a line, with a dot before it where the hosts below it are meant too,
/// then the end of its time in quotes.
enum HSTSFile {
  private static let forEver = "unlimited"

  static func text(_ hosts: HSTSHosts) -> String {
    var lines = ["# HTTP Strict Transport Security (RFC 6797), in curl's form. Edit at your own risk."]
    for (host, entry) in hosts.entries.sorted(by: { $0.key < $1.key }) {
      let dot = entry.includesSubdomains ? "." : ""
      lines.append("\(dot)\(host) \"\(entry.expires == .max ? forEver : time(entry.expires))\"")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Lines that can't be read are passed over, as curl does.
  static func hosts(_ text: String, now: Int64) -> HSTSHosts {
    var hosts = HSTSHosts()
    for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
      let parts = line.split(maxSplits: 1) { $0 == " " || $0 == "\t" }
      guard parts.count == 2 else { continue }
      let quoted = parts[1].drop { $0 == " " || $0 == "\t" }
      guard quoted.hasPrefix("\""), let end = quoted.dropFirst().firstIndex(of: "\"") else { continue }
      let date = String(quoted[quoted.index(after: quoted.startIndex)..<end])
      guard let expires = date == forEver ? .max : seconds(date), expires > now else { continue }
      let includes = parts[0].hasPrefix(".")
      hosts.set(
        HSTSHosts.Entry(expires: expires, includesSubdomains: includes),
        for: String(includes ? parts[0].dropFirst() : parts[0]), now: now)
    }
    return hosts
  }

  /// "20261130 22:51:15", in GMT.
  private static func time(_ seconds: Int64) -> String {
    var seconds = time_t(min(max(0, seconds), 253_402_300_799))
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let year = String(Int(parts.tm_year) + 1900)
    return String(repeating: "0", count: max(0, 4 - year.count)) + year + two(parts.tm_mon + 1)
      + two(parts.tm_mday) + " " + two(parts.tm_hour) + ":" + two(parts.tm_min) + ":" + two(parts.tm_sec)
  }

  private static func seconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count == 17, bytes[8] == 0x20, bytes[11] == UInt8(ascii: ":"), bytes[14] == UInt8(ascii: ":")
    else { return nil }
    func number(_ range: Range<Int>) -> Int32? { DecimalDigits.value(bytes[range]).map { Int32($0) } }
    guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8),
      let hour = number(9..<11),
      let minute = number(12..<14), let second = number(15..<17), (1...12).contains(month),
      (1...31).contains(day), hour < 24, minute < 60, second <= 60
    else { return nil }
    var parts = tm()
    parts.tm_year = year - 1900
    parts.tm_mon = month - 1
    parts.tm_mday = day
    parts.tm_hour = hour
    parts.tm_min = minute
    parts.tm_sec = second
    return Int64(timegm(&parts))
  }
}
