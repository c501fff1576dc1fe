import Penstock

/// The page of a run: one HTML file that needs nothing from anywhere.
struct BatchReportPage {
  let tally: BatchTally
  let report: BatchReport
  let skipped: Int
  let duration: Duration
  let wasInterrupted: Bool

  var text: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Batch report</title>
    <style>\(Self.style)</style>
    </head>
    <body>
    <h1>Batch report</h1>
    \(totals)
    <h2>Requests and bytes over time</h2>
    \(BatchCharts.throughput(report.timeline))
    <h2>Latency</h2>
    \(BatchCharts.latency(tally.latencies))
    \(quantiles)
    <h2>Failures by kind</h2>
    \(failures)
    <h2>Answers by status</h2>
    \(statuses)
    <h2>Slowest requests</h2>
    \(slowest)
    <footer>penstock \(Self.escape(PenstockVersion.library))</footer>
    </body>
    </html>

    """
  }

  private static let style = """

    :root { color-scheme: light dark; --line: #8886; --ok: #2a7de1; --bad: #d1433b; --soft: #8882; }
    body { font: 15px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
    h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
    dl { display: flex; flex-wrap: wrap; gap: .6rem 2rem; margin: 0; }
    dt { color: GrayText; font-size: .8rem; } dd { margin: 0; font-size: 1.2rem; font-variant-numeric: tabular-nums; }
    table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
    th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
    th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; }
    svg { width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
    .ok { fill: var(--ok); } .bad { fill: var(--bad); } .axis { stroke: var(--line); }
    .bytes { fill: none; stroke: currentColor; stroke-width: 1.5; opacity: .6; }
    .scroll { overflow-x: auto; } .bar { display: flex; height: .8rem; min-width: 10rem; background: var(--soft); }
    .bar i { display: block; height: 100%; } .none { color: GrayText; }
    .p0 { background: #999; } .p1 { background: #b07cc6; } .p2 { background: #e0a030; } .p3 { background: #50a060; }
    .p4 { background: #2a7de1; } .p5 { background: #d1433b; } footer { margin-top: 3rem; color: GrayText; }

    """

  private var totals: String {
    let seconds = duration / .seconds(1)
    let rate = seconds > 0 ? Double(tally.done) / seconds : 0
    var items = [
      ("ok", "\(tally.ok)"), ("failed", "\(tally.failed)"), ("skipped", "\(skipped)"),
      ("duration", ProgressFormat.duration(duration)), ("requests a second", BatchCharts.number(rate)),
      ("bytes", ProgressFormat.bytes(tally.bytes)),
      ("throughput", ProgressFormat.rate(seconds > 0 ? Double(tally.bytes) / seconds : 0)),
    ]
    if wasInterrupted { items.append(("ended", "interrupted")) }
    return "<dl>" + items.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" }.joined() + "</dl>"
  }

  private var quantiles: String {
    guard tally.latencies.count > 0 else { return "" }
    var items: [(String, Duration?)] = [("min", tally.latencies.minimum), ("mean", tally.latencies.mean)]
    for (name, share) in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)] {
      items.append((name, tally.latencies.quantile(share)))
    }
    items.append(("max", tally.latencies.maximum))
    return "<dl>"
      + items.map { "<div><dt>\($0.0)</dt><dd>\($0.1.map(BatchCharts.time) ?? "–")</dd></div>" }.joined()
      + "</dl>"
  }

  private var failures: String {
    if report.errors.isEmpty { return "<p class=\"none\">None.</p>" }
    let rows = report.errors.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return Self.table(["Kind", "Count"], rows.map { [Self.escape($0.key), "\($0.value)"] })
  }

  private var statuses: String {
    if report.statuses.isEmpty { return "<p class=\"none\">None.</p>" }
    return Self.table(
      ["Status", "Count"], report.statuses.sorted { $0.key < $1.key }.map { ["\($0.key)", "\($0.value)"] })
  }

  private var slowest: String {
    if report.slow.isEmpty { return "<p class=\"none\">None.</p>" }
    let longest = (report.slow.first?.duration ?? .zero) / .seconds(1)
    let rows = report.slow.map { slow in
      [
        Self.escape(slow.url), slow.status.map { "\($0)" } ?? Self.escape(slow.kind ?? "–"),
        "\(slow.attempts)",
        BatchCharts.time(slow.duration), BatchCharts.phases(slow, longest: longest),
      ]
    }
    return "<p>\(BatchCharts.legend)</p>"
      + Self.table(["URL", "Answer", "Attempts", "Time", "Phases of the last attempt"], rows)
  }

  private static func table(_ head: [String], _ rows: [[String]]) -> String {
    let top = "<tr>" + head.map { "<th>\($0)</th>" }.joined() + "</tr>"
    let body = rows.map { "<tr>" + $0.map { "<td>\($0)</td>" }.joined() + "</tr>" }.joined(separator: "\n")
    return "<div class=\"scroll\"><table><thead>\(top)</thead>\n<tbody>\(body)</tbody></table></div>"
  }

  /// Text for HTML: nothing of a URL can become a tag.
  static func escape(_ text: String) -> String {
    var escaped = ""
    for scalar in TextColumns.printable(text).unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
