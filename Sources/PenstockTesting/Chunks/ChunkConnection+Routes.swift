extension ChunkConnection {
  /// Answers one request; false if the connection must not be used again.
  func answer(_ head: RequestParser.Head) throws(Ended) -> Bool {
    let target = RequestTarget(head.target)
    let isHead = head.method == "HEAD"
    if target.route == "echo" { return try answerEcho(head) }
    try skipBody()
    switch target.route {
    case "bytes":
      guard let count = target.count else { return try refuse(isHead) }
      try sendContent(head: okHead(length: count), count: isHead ? 0 : count)
    case "chunked":
      guard let count = target.count else { return try refuse(isHead) }
      guard let size = target.number("size", default: 65_536), size > 0, size <= 16 << 20 else {
        return try refuse(isHead)
      }
      try answerChunked(count, size: size, isHead: isHead)
    case "slow":
      guard let count = target.count else { return try refuse(isHead) }
      guard let rate = target.number("rate", default: 65_536), rate > 0 else { return try refuse(isHead) }
      try answerSlowly(count, rate: rate, isHead: isHead)
    case "truncate", "drop":
      guard let count = target.count else { return try refuse(isHead) }
      try sendContent(head: okHead(length: count), count: isHead ? 0 : count / 2)
      if target.route == "drop" { reset() }
      return false
    case "status":
      guard let status = target.count, (200...599).contains(status) else { return try refuse(isHead) }
      try sendText("status \(status)\n", status: Int(status), isHead: isHead)
    case "headers":
      try sendText(json(head), type: "application/json", isHead: isHead)
    case "events":
      guard let count = target.number("count", default: 0) else { return try refuse(isHead) }
      guard let interval = target.number("interval", default: 100) else { return try refuse(isHead) }
      try answerEvents(count, interval: .milliseconds(interval), isHead: isHead)
    case "delay":
      guard let time = target.count, time <= 1 << 40 else { return try refuse(isHead) }
      try wait(until: .after(.milliseconds(time)))
      try sendText("after \(time) ms\n", isHead: isHead)
    case "redirect":
      guard let hops = target.count else { return try refuse(isHead) }
      guard hops > 0 else {
        try sendText("arrived\n", isHead: isHead)
        return true
      }
      try sendText("", status: 302, fields: [("Location", "/redirect/\(hops - 1)")], isHead: isHead)
    case "file":
      return try answerFile(head, name: target.rest)
    default:
      try sendText("not found\n", status: 404, isHead: isHead)
    }
    return true
  }

  func okHead(length: Int64) -> String {
    ChunkResponseHead.text(
      status: 200,
      fields: [("Content-Type", "application/octet-stream"), ("Content-Length", "\(length)")])
  }

  func sendText(
    _ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8",
    fields: [(String, String)] = [], isHead: Bool
  ) throws(Ended) {
    let hasBody = status != 204 && status != 304
    var fields = fields
    if hasBody { fields += [("Content-Type", type), ("Content-Length", "\(text.utf8.count)")] }
    let head = ChunkResponseHead.text(status: status, fields: fields)
    try send(hasBody && !isHead ? head + text : head)
  }

  private func refuse(_ isHead: Bool) throws(Ended) -> Bool {
    try sendText("bad request\n", status: 400, isHead: isHead)
    return true
  }

  private func answerEcho(_ head: RequestParser.Head) throws(Ended) -> Bool {
    guard let body = try readBody(head, limit: 256 << 20) else {
      try sendText("too large\n", status: 413, fields: [("Connection", "close")], isHead: false)
      return false
    }
    var type = "application/octet-stream"
    for field in head.fields where field.name.lowercased() == "content-type" { type = field.value }
    let text = ChunkResponseHead.text(
      status: 200, fields: [("Content-Type", type), ("Content-Length", "\(body.count)")])
    try send(Array(text.utf8) + body)
    return true
  }

  private func answerChunked(_ count: Int64, size: Int, isHead: Bool) throws(Ended) {
    let head = ChunkResponseHead.text(
      status: 200,
      fields: [("Content-Type", "application/octet-stream"), ("Transfer-Encoding", "chunked")])
    if isHead { return try send(head) }
    var pending = Array(head.utf8)
    var offset: Int64 = 0
    while offset < count {
      let length = Int(min(Int64(size), count - offset))
      pending += Array("\(String(length, radix: 16))\r\n".utf8)
      if length > 64 << 10 {
        try send(pending, more: true)
        pending.removeAll(keepingCapacity: true)
        try sendContent(from: offset, count: Int64(length), more: true)
      } else {
        // Small chunks are gathered, so that they cost no system call each.
        let start = Int(offset % Int64(TestContent.period))
        pending += TestContent.block[start..<(start + length)]
      }
      pending += [13, 10]
      offset += Int64(length)
      if pending.count >= 256 << 10 {
        try send(pending)
        pending.removeAll(keepingCapacity: true)
      }
    }
    try send(pending + Array("0\r\n\r\n".utf8))
  }

  private func answerSlowly(_ count: Int64, rate: Int, isHead: Bool) throws(Ended) {
    try send(okHead(length: count))
    guard !isHead else { return }
    let start = ContinuousClock.now
    // Fifty pieces a second, or single bytes if that is less.
    let piece = Int64(max(1, rate / 50))
    var sent: Int64 = 0
    while sent < count {
      let length = min(piece, count - sent)
      try sendContent(from: sent, count: length)
      sent += length
      let due = min(Double(sent) / Double(rate), 100_000_000)
      if sent < count { try wait(until: start + .seconds(due)) }
    }
  }

  private func answerEvents(_ count: Int, interval: Duration, isHead: Bool) throws(Ended) {
    let head = ChunkResponseHead.text(
      status: 200,
      fields: [
        ("Content-Type", "text/event-stream"), ("Cache-Control", "no-store"),
        ("Transfer-Encoding", "chunked"),
      ])
    try send(head)
    guard !isHead else { return }
    var number = 0
    while count == 0 || number < count {
      if number > 0, interval > .zero { try wait(until: .after(interval)) }
      let event = "id: \(number)\nevent: tick\ndata: {\"n\":\(number)}\n\n"
      try send("\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n")
      number += 1
    }
    try send("0\r\n\r\n")
  }

  private func json(_ head: RequestParser.Head) -> String {
    let fields = head.fields.map { "[\(quoted($0.name)),\(quoted($0.value))]" }.joined(separator: ",")
    return "{\"method\":\(quoted(head.method)),\"target\":\(quoted(head.target)),\"fields\":[\(fields)]}\n"
  }

  private func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where scalar.value < 32:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
