import PenstockTesting
import TestSupport

/// A server that does to each request something that a server must not do, or does only on a bad day: what it is
/// follows from the number in the request's path alone.
enum HostileServer {
  static func make() throws -> ScriptedServer {
    // A small buffer: what nobody reads blocks soon.
    try ScriptedServer(options: ServerOptions(sendBufferSize: 64 << 10)) { connection in
      while connection.isOpen {
        let head = try connection.readHead()
        let number = UInt64(head.target.drop { !$0.isNumber }.prefix { $0.isNumber }) ?? 0
        var random = SeededGenerator(seed: number &+ 1)
        for _ in 0..<4 { _ = random.next() }
        if random.next(below: 4) > 0 { try connection.readBody() }
        try connection.run(steps(&random, number))
      }
    }
  }

  private static func steps(_ random: inout SeededGenerator, _ number: UInt64) -> [Step] {
    let whole = answer(&random)
    let cut = Array(whole.prefix(random.next(below: whole.count + 1)))
    switch random.next(below: 20) {
    case 0..<5: return [.sendBytes(whole)]
    case 5: return [.sendBytes(cut), .reset]
    case 6: return [.sendBytes(cut), .halfClose, .readUntilClose]
    case 7: return [.sendBytes(cut), .closeAtOnce]
    case 8: return [.sendBytes(cut), .stall]
    case 9: return [.sendBytes(random.bytes(random.next(below: 5000))), .close]
    case 10: return [.sendBytes(damaged(whole, &random)), .closeAtOnce]
    case 11: return [.drip(Array(whole.prefix(500)), size: 7, every: .milliseconds(1)), .reset]
    case 12:
      return [.send("HTTP/1.1 200 OK\r\n"), .sendForever(Array("X-Field: value\r\n".utf8), chunked: false)]
    case 13:
      return [.sendForever(Array("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".utf8), chunked: false)]
    case 14:
      return [
        .head(fields: [("Transfer-Encoding", "chunked")]), .sendForever(random.bytes(4000), chunked: true),
      ]
    case 15: return [.sendBytes(whole), .sendBytes(answer(&random))]
    case 16: return [.sendBytes(whole), .wait(.milliseconds(2)), .sendBytes(cut)]
    case 17: return [.head(status: 307, fields: [("Location", "/\(number &+ 1)"), ("Content-Length", "0")])]
    case 18: return [.response(status: 503, fields: [("Retry-After", "0")], body: "later")]
    default: return [.stall]
    }
  }

  /// A good answer of one of several kinds.
  private static func answer(_ random: inout SeededGenerator) -> [UInt8] {
    let body = random.bytes(
      random.next(below: 4) == 0 ? random.next(below: 300_000) : random.next(below: 2000))
    func head(_ fields: String) -> [UInt8] { Array("HTTP/1.1 200 OK\r\n\(fields)\r\n".utf8) }
    func sized(_ fields: String, _ body: [UInt8]) -> [UInt8] {
      head("Content-Length: \(body.count)\r\n\(fields)") + body
    }
    switch random.next(below: 8) {
    case 0:
      var bytes = head("Transfer-Encoding: chunked\r\nTrailer: X-End\r\n")
      var rest = body[...]
      while !rest.isEmpty {
        let piece = rest.prefix(1 + random.next(below: 9000))
        bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10]
        rest = rest.dropFirst(piece.count)
      }
      return bytes + Array("0\r\nX-End: yes\r\n\r\n".utf8)
    case 1: return sized("Content-Encoding: gzip\r\n", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + body)
    case 2:
      return sized("Content-Type: text/event-stream\r\n", Array("data: one\n\nid: 2\ndata: two\n\n".utf8))
    case 3: return sized("", Array("{\"a\":1}\n[1,2]\n{\"b\":\n".utf8))
    case 4: return Array("HTTP/1.1 100 Continue\r\n\r\n".utf8) + sized("", body)
    case 5: return Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)
    case 6: return sized("Connection: close\r\nSet-Cookie: a=b\r\n", body)
    default: return sized("ETag: \"x\"\r\n", body)
    }
  }

  private static func damaged(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<(1 + random.next(below: 8)) {
      let index =
        random.next(below: 3) == 0
        ? random.next(below: bytes.count) : random.next(below: min(bytes.count, 80))
      bytes[index] = UInt8(truncatingIfNeeded: random.next())
    }
    return bytes
  }
}
