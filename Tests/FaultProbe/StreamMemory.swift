import Penstock
import PenstockTesting
import StreamCore

/// What the process holds while a large body goes through each of the streams of values and operators.
enum StreamMemory {
  private typealias Read = @Sendable (ResponseBody, inout Sample) async throws -> Void

  /// The most that is resident, looked at now and then.
  struct Sample {
    private(set) var most = 0
    private var count = 0

    mutating func take() {
      if count.isMultiple(of: 2048) { most = max(most, Memory.resident) }
      count += 1
    }
  }

  private struct Row: Decodable, Sendable { let id: Int }

  private struct Way: Sendable {
    let name: String
    var begin = ""
    let pattern: [UInt8]
    /// How many bytes it stands for, where it is packed.
    var size: Int?
    var end = ""
    let read: Read
  }

  private static func text(_ unit: String) -> [UInt8] {
    Array(String(repeating: unit, count: 60_000 / unit.utf8.count).utf8)
  }

  private static func all<S: AsyncSequence>(_ sequence: S, _ sample: inout Sample) async throws {
    for try await _ in sequence { sample.take() }
  }

  private static func ways() async throws -> [Way] {
    let row =
      "{\"id\": 1, \"text\": \"as long as rows are, more or less: a hundred bytes and some more of them here\"}"
    let packed = try await ResponseBody(text(row + "\n")).gzipped().collect(upTo: .unlimited)
    return [
      Way(name: "chunks", pattern: text("x")) { try await all($0.rechunked(bytes: 50_000), &$1) },
      Way(name: "packed", pattern: text(row)) {
        try await all($0.gzipped(level: 1).hashed(by: BodyHash(.sha256)), &$1)
      },
      Way(name: "unpacked", pattern: packed, size: 60_000) { try await all($0.gunzipped(), &$1) },
      Way(name: "lines", pattern: text(row + "\r\n")) { try await all($0.lines, &$1) },
      Way(name: "json-lines", pattern: text(row + "\n")) { try await all($0.jsonLines(of: Row.self), &$1) },
      Way(name: "json-sequence", pattern: text("\u{1E}" + row + "\n")) {
        try await all($0.jsonSequence(of: Row.self), &$1)
      },
      Way(name: "elements", begin: "{\"a\": {\"items\": [", pattern: text(row + ","), end: row + "]}}") {
        try await all($0.jsonElements(of: Row.self, at: "a.items"), &$1)
      },
      Way(name: "events", pattern: text("id: 7\ndata: \(row)\n\n")) {
        try await all($0.serverSentEvents, &$1)
      },
      Way(name: "csv", begin: "id,text\n", pattern: text("1,\"a \"\"text\"\", in quotes\"\n")) {
        try await all($0.csvRows(of: Row.self), &$1)
      },
      Way(name: "parts", begin: "--b", pattern: text("\r\n\r\n\(row)\(row)\(row)\r\n--b"), end: "--\r\n") {
        for try await part in $0.multipartParts(boundary: "b") {
          for try await _ in part.body { $1.take() }
        }
      },
      Way(name: "merged", pattern: text(row + "\n")) {
        try await all([$0.lines].merged(), &$1)
      },
      Way(name: "shared", pattern: text("x")) { body, sample in
        let readers = body.shared(among: 2)
        async let other = readers[1].drain()
        try await all(readers[0], &sample)
        _ = try await other
      },
    ]
  }

  /// Each way with a body of so many MiB, one after another.
  static func run(mebibytes: Int) async throws {
    let ways = try await ways()
    let server = try ScriptedServer { request in
      let parts = request.target.split(separator: "/")
      let way = ways.first { $0.name == parts[0] } ?? ways[0]
      let times = (Int(parts[1]) ?? 1) << 20 / (way.size ?? way.pattern.count)
      func chunk(_ bytes: some Collection<UInt8>) -> Step {
        .sendBytes(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10])
      }
      return [.head(fields: [("Transfer-Encoding", "chunked")])]
        + (way.begin.isEmpty ? [] : [chunk(way.begin.utf8)]) + [
          .repeatSteps(times: times, [chunk(way.pattern)])
        ]
        + (way.end.isEmpty ? [] : [chunk(way.end.utf8)]) + [.send("0\r\n\r\n")]
    }
    let client = Client()
    for way in ways {
      func once(_ mebibytes: Int) async throws -> Int {
        var sample = Sample()
        try await way.read(try await client.send(.get(server.url("/\(way.name)/\(mebibytes)"))).body, &sample)
        return sample.most
      }
      // What is set up once is there after this.
      _ = try await once(2)
      let before = Memory.resident
      print("\(way.name)-kibibytes \(try await once(mebibytes) - before)")
    }
    await client.shutdown()
    await server.stop()
  }

  /// A gzip file of NDJSON, unpacked, checked and posted on in batches: three stages and two servers.
  static func pipeline(mebibytes: Int) async throws {
    let rows = text("{\"id\": 1, \"text\": \"a row\"}\n")
    let packed = try await ResponseBody(rows).gzipped().collect(upTo: .unlimited)
    let from = try ScriptedServer { request in
      let times = (Int(request.target.dropFirst()) ?? 1) << 20 / rows.count
      return [
        .head(fields: [("Content-Length", "\(times * packed.count)")]),
        .repeatSteps(times: times, [.sendBytes(packed)]),
      ]
    }
    let to = try ScriptedServer(
      script: [.respondEach([.response(body: "ok")])], options: ServerOptions(recordedBodyLimit: 0))
    let client = Client()
    func once(_ mebibytes: Int) async throws -> (most: Int, rows: Int) {
      var sample = Sample()
      var batch: [UInt8] = []
      var count = 0
      let file = try await client.send(.get(from.url("/\(mebibytes)"))).body.gunzipped()
      for try await row in file.compactJSONLines() {
        batch += row
        batch.append(0x0A)
        count += 1
        sample.take()
        guard count.isMultiple(of: 2000) else { continue }
        _ = try await client.send(.post(to.url("/rows"), body: .bytes(batch))).body.drain()
        batch.removeAll(keepingCapacity: true)
      }
      return (sample.most, count)
    }
    _ = try await once(2)
    let before = Memory.resident
    let result = try await once(mebibytes)
    print("pipeline-kibibytes \(result.most - before)")
    print("pipeline-rows \(result.rows)")
    await client.shutdown()
    await from.stop()
    await to.stop()
  }
}
