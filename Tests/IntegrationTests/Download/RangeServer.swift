import Penstock
import PenstockTesting
import StreamCore
import Synchronization
import TestSupport

/// A server of one file that honours ranges, and does otherwise where a test says so.
final class RangeServer: Sendable {
  /// How one request is answered; by default as it should be.
  struct Way: Sendable {
    var content: [UInt8]
    var tag: String? = "\"v1\""
    var fields: [(String, String)] = []
    /// Ranges are answered with the whole.
    var ignoresRanges = false
    /// In place of the true Content-Range.
    var contentRange: String?
    /// In place of everything.
    var status: Int?
    /// The connection ends after so many bytes of the body.
    var cut: Int?
    /// A step between the head and the body.
    var before: [Step] = []
    /// Stops after so many bytes of the body until "rest" is signalled.
    var halt: Int?
    /// Without a length, until the connection closes.
    var isCloseDelimited = false
  }

  let content: [UInt8]
  let server: ScriptedServer
  private let sent: SentBytes

  final class SentBytes: Sendable {
    let count = Mutex(0)
    let requests = Mutex(0)
  }

  /// `way` gets the number of the request, from 0, and the request.
  init(
    size: Int, seed: UInt64 = 1,
    _ way: @escaping @Sendable (_ number: Int, _ request: RecordedRequest, inout Way) -> Void = { _, _, _ in }
  ) throws {
    var generator = SeededGenerator(seed: seed)
    let content = generator.bytes(size)
    let sent = SentBytes()
    self.content = content
    self.sent = sent
    server = try ScriptedServer { request in
      let number = sent.requests.withLock { number in
        number += 1
        return number - 1
      }
      var chosen = Way(content: content)
      way(number, request, &chosen)
      return Self.steps(chosen, request, sent)
    }
  }

  var url: String { server.url("/file.bin") }
  var requests: [RecordedRequest] { server.requests }
  /// Body bytes that were sent.
  var bytesSent: Int { sent.count.withLock { $0 } }
  func stop() async { await server.stop() }

  private static func steps(_ way: Way, _ request: RecordedRequest, _ sent: SentBytes) -> [Step] {
    if let status = way.status { return [.response(status: status, fields: way.fields, body: "no")] }
    var fields = way.fields
    if let tag = way.tag { fields.append(("ETag", tag)) }
    let size = way.content.count
    var range = 0..<size
    var status = 200
    let holds = request.value(of: "If-Range").map { $0 == way.tag } ?? true
    if !way.ignoresRanges, holds, let text = request.value(of: "Range"), let asked = parse(text, size) {
      guard let asked = asked.inside else {
        fields.append(("Content-Range", "bytes */\(size)"))
        return [.response(status: 416, fields: fields, body: "not satisfiable")]
      }
      status = 206
      range = asked
      fields.append(
        ("Content-Range", way.contentRange ?? "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"))
    }
    var body = Array(way.content[range])
    fields.append(way.isCloseDelimited ? ("Connection", "close") : ("Content-Length", "\(body.count)"))
    var steps: [Step] = [.head(status: status, fields: fields)] + way.before
    let isCut = way.cut.map { $0 < body.count } ?? false
    if let cut = way.cut { body = Array(body.prefix(cut)) }
    sent.count.withLock { $0 += body.count }
    if let halt = way.halt, halt < body.count {
      steps += [.sendBytes(Array(body[..<halt])), .waitForSignal("rest"), .sendBytes(Array(body[halt...]))]
    } else {
      steps.append(.sendBytes(body))
    }
    if isCut || way.isCloseDelimited { steps.append(.close) }
    return steps
  }

  private struct Asked { var inside: Range<Int>? }

  /// Nil for what isn't one range of bytes.
  private static func parse(_ text: String, _ size: Int) -> Asked? {
    guard text.hasPrefix("bytes=") else { return nil }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Int(ends[0]) else { return nil }
    guard first < size else { return Asked(inside: nil) }
    let last = min(Int(ends[1]) ?? size - 1, size - 1)
    return last < first ? nil : Asked(inside: first..<last + 1)
  }
}

/// The events of a download by name, progress left out.
func names(of download: Download) async -> [String] {
  var names: [String] = []
  for await event in download.events {
    switch event {
    case .started(let start): names.append("started \(start.resumedAt)")
    case .progress: break
    case .restarted(let reason): names.append("restarted \(reason.rawValue)")
    case .retry: names.append("retry")
    case .finished: names.append("finished")
    case .failed(let error): names.append("failed \(error.kind.rawValue)")
    }
  }
  return names
}

extension DownloadOptions {
  /// The defaults, changed.
  static func with(_ change: (inout DownloadOptions) -> Void) -> DownloadOptions {
    var options = DownloadOptions()
    // Tests don't wait for quiet times.
    options.retry.backoff.base = .milliseconds(20)
    change(&options)
    return options
  }
}

extension TestFolder {
  /// Whether a file has these bytes; a failing test doesn't print them all.
  func holds(_ bytes: [UInt8], in name: String) -> Bool { read(name) == bytes }
}
