import Penstock

/// Some input and how it is read.
struct Workload: Sendable {
  let name: String
  /// What the input repeats, and what stands around that.
  let unit: String
  var before = ""
  var between = ""
  var after = ""
  /// Reads a body to its end; the number of elements.
  let run: @Sendable (ResponseBody) async throws -> Int

  func input(_ size: Int) -> [UInt8] {
    var bytes = Array(before.utf8)
    bytes.reserveCapacity(size + 4096)
    let piece = Array((unit + between).utf8)
    while bytes.count < size { bytes += piece }
    bytes += Array((unit + after).utf8)
    return bytes
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

  static let all: [Workload] = [
    Workload(name: "lines", unit: row + "\n") { try await count($0.lines) },
    Workload(name: "byte-lines", unit: row + "\n") { try await count($0.byteLines) },
    Workload(name: "batches", unit: row + "\n") { try await sum($0.byteLines.batches) },
    Workload(name: "ndjson", unit: row.replacing(",\"", with: ", \"") + "\n") {
      try await count($0.compactJSONLines())
    },
    Workload(name: "decode", unit: row + "\n") { try await count($0.jsonLines(of: Row.self)) },
    Workload(name: "sse", unit: "data: 0123456789ab\n\n") { try await count($0.serverSentEvents) },
    Workload(name: "sse-batches", unit: "data: 0123456789ab\n\n") {
      try await sum($0.serverSentEvents.batches)
    },
    Workload(name: "elements", unit: row, before: "{\"data\":{\"items\":[", between: ",", after: "]}}") {
      try await count($0.jsonElements(of: Row.self, at: "data.items"))
    },
    Workload(name: "csv", unit: "123456,\"a name, quoted\",red,0.8725,lorem ipsum\n") {
      try await count($0.csvRows())
    },
  ]

  private static func count(_ elements: some AsyncSequence) async throws -> Int {
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
