import FoundationEssentials
import Penstock

/// Some input and how it is read.
struct Workload: Sendable {
  let name: String
  /// What the input repeats, and what stands around that.
  let unit: String
  var before = ""
  var between = ""
  var after = ""
  /// Whether the input is handed in as a gzip file; its size is still counted unpacked.
  var isPacked = false
  /// Reads a body to its end; the number of elements.
  let run: @Sendable (ResponseBody) async throws -> Int

  func input(_ size: Int) async throws -> (bytes: [UInt8], size: Int) {
    var bytes = Array(before.utf8)
    bytes.reserveCapacity(size + 4096)
    let piece = Array((unit + between).utf8)
    while bytes.count < size { bytes += piece }
    bytes += Array((unit + after).utf8)
    guard isPacked else { return (bytes, bytes.count) }
    return (try await ResponseBody(bytes).gzipped().collect(upTo: .gibibytes(2)), bytes.count)
  }

  /// 200 bytes.
  private static let row =
    #"{"id":123456,"name":"a name of some length","tags":["red","green","blue"],"score":0.8725,"text":""#
    + String(repeating: "lorem ipsum ", count: 8) + #"12"}"#

  struct Row: Decodable, Sendable {
    let id: Int
    let name: String
    let tags: [String]
    let score: Double
    let text: String
  }

  private struct Document: Decodable {
    struct Items: Decodable { let items: [Row] }
    let data: Items
  }

  /// What a language model's API sends for each token.
  private static let token =
    #"data: {"id":"chatcmpl-9xJ2kQ","object":"chat.completion.chunk","created":1700000000,"model":"model-4","#
    + #""choices":[{"index":0,"delta":{"content":" penstock"},"finish_reason":null}]}"# + "\n\n"
  /// The same of another API, which names its events.
  private static let named =
    "event: content_block_delta\n"
    + #"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" penstock"}}"#
    + "\n\n"
  private static let small = "data: 0123456789ab\n\n"

  static let all: [Workload] = [
    Workload(name: "lines", unit: row + "\n") { try await count($0.lines) },
    Workload(name: "byte-lines", unit: row + "\n") { try await count($0.byteLines) },
    Workload(name: "batches", unit: row + "\n") { try await sum($0.byteLines.batches) },
    Workload(name: "ndjson", unit: row + "\n") { try await count($0.compactJSONLines()) },
    Workload(name: "ndjson-blanks", unit: row.replacing(",\"", with: ", \"") + "\n") {
      try await count($0.compactJSONLines())
    },
    Workload(name: "decode", unit: row + "\n") { try await count($0.jsonLines(of: Row.self)) },
    Workload(name: "sse", unit: token) { try await count($0.serverSentEvents) },
    Workload(name: "sse-named", unit: named) { try await count($0.serverSentEvents) },
    Workload(name: "sse-ids", unit: "id: 12345\n" + token + "id: 12346\n" + token) {
      try await count($0.serverSentEvents)
    },
    Workload(name: "sse-small", unit: small) { try await count($0.serverSentEvents) },
    Workload(name: "sse-small-batches", unit: small) { try await sum($0.serverSentEvents.batches) },
    Workload(name: "elements", unit: row, before: "{\"data\":{\"items\":[", between: ",", after: "]}}") {
      try await count($0.jsonElements(of: Row.self, at: "data.items"))
    },
    // What `elements` stands against.
    Workload(name: "foundation", unit: row, before: "{\"data\":{\"items\":[", between: ",", after: "]}}") {
      let bytes = try await $0.collect(upTo: .gibibytes(2))
      return try JSONDecoder().decode(Document.self, from: Data(bytes)).data.items.count
    },
    Workload(name: "csv", unit: "123456,\"a name, quoted\",red,0.8725,lorem ipsum\n") {
      try await count($0.csvRows())
    },
    Workload(name: "gunzip", unit: row + "\n", isPacked: true) { Int(try await $0.gunzipped().drain()) },
    Workload(name: "gunzip-lines", unit: row + "\n", isPacked: true) {
      try await count($0.gunzipped().byteLines)
    },
  ]

  @concurrent private static func count(_ elements: some AsyncSequence) async throws -> Int {
    var count = 0
    for try await _ in elements { count += 1 }
    return count
  }

  private static func sum<Element>(_ batches: some AsyncSequence<[Element], HTTPError>) async throws -> Int {
    var count = 0
    for try await batch in batches { count += batch.count }
    return count
  }
}
