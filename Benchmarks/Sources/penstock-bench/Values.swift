import BenchOptions
import BenchReport
import Penstock

/// One large body over HTTP, read as values: how fast, and in how much memory?
struct Values: Sendable {
  /// What rows and elements hold: the runner writes such bodies.
  private struct Row: Decodable, Sendable {
    let id: Int
    let name: String
    let tags: [String]
    let score: Double
    let text: String
  }

  let options: Options

  @concurrent func run() async throws {
    let client = options.client(parallel: 8)
    // The loop, its thread and libcurl are there before the measurement starts.
    try await client.onLoop {}
    try await warmUp(client)
    let before = bench_resident_kib()
    var values = 0
    bench_begin()
    for _ in 0..<options.count { values += try await read(client) }
    bench_end()
    bench_note("kib_above_idle", Double(bench_peak_resident_kib() - before))
    bench_note("values", Double(values))
    bench_print(options.mode, Int64(options.count), Int64(options.bytes) * Int64(options.count))
    await client.shutdown()
  }

  /// A value out of memory, so that the pages of code that are read for the first time don't count as the stream's: of
  /// Foundation's decoder alone these are a MiB.
  private func warmUp(_ client: Client) async throws {
    let row = #"{"id":1,"name":"a","tags":["b"],"score":0.5,"text":"c"}"#
    switch options.kind {
    case "lines", "byte-lines", "json-lines":
      _ = try await read(ResponseBody(Array((row + "\n").utf8)), client)
    case "elements":
      _ = try await read(ResponseBody(Array(#"{"data":{"items":[\#(row)]}}"#.utf8)), client)
    case "events": _ = try await read(ResponseBody(Array("data: a\n\n".utf8)), client)
    default: break
    }
  }

  private func read(_ client: Client) async throws -> Int {
    try await read(try await client.send(.get(options.url)).checked().body, client)
  }

  private func read(_ body: ResponseBody, _ client: Client) async throws -> Int {
    switch options.kind {
    case "drain": return Int(try await body.drain())
    case "byte-lines": return try await count(body.byteLines)
    case "lines": return try await count(body.lines)
    case "json-lines": return try await count(body.jsonLines(of: Row.self))
    case "elements": return try await count(body.jsonElements(of: Row.self, at: "data.items"))
    case "events": return try await count(body.serverSentEvents)
    case "gunzip": return Int(try await body.gunzipped().drain())
    case "gunzip-lines": return try await count(body.gunzipped().byteLines)
    case "pipeline": return try await pipeline(body, client)
    default: throw UnexpectedAnswer(what: "--as \(options.kind)")
    }
  }

  private func count(_ elements: some AsyncSequence) async throws -> Int {
    var count = 0
    for try await _ in elements { count += 1 }
    return count
  }

  /// What the example `pipeline` does: unpack, check each row, post on in batches, four at a time.
  private func pipeline(_ body: ResponseBody, _ client: Client) async throws -> Int {
    guard let to = options.to else { throw UnexpectedAnswer(what: "no --to URL") }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      var batch: [UInt8] = []
      var rows = 0
      var posts = 0
      for try await row in body.gunzipped().compactJSONLines() {
        batch += row
        batch.append(UInt8(ascii: "\n"))
        rows += 1
        guard rows.isMultiple(of: 500) else { continue }
        if posts >= 4 { try await group.next() }
        let content = batch
        group.addTask {
          let response = try await client.send(.post(to, body: .bytes(content))).checked()
          _ = try await response.body.collect(upTo: .kibibytes(64))
        }
        posts += 1
        batch.removeAll(keepingCapacity: true)
      }
      try await group.waitForAll()
      return rows
    }
  }
}
