internal import Glibc

extension ChunkConnection {
  /// Answers with a file of the root directory, or a range of it.
  func answerFile(_ head: RequestParser.Head, name: String) throws(Ended) -> Bool {
    let isHead = head.method == "HEAD"
    guard isHead || head.method == "GET" else {
      try sendText("method\n", status: 405, fields: [("Allow", "GET, HEAD")], isHead: isHead)
      return true
    }
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard let root, !name.isEmpty, !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }),
      !name.utf8.contains(0)
    else { return try refuseFile(isHead) }
    let file = open(root + "/" + name, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return try refuseFile(isHead) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return try refuseFile(isHead) }

    let size = Int64(status.st_size)
    let tag = entityTag(status)
    var fields = [("Accept-Ranges", "bytes"), ("ETag", tag)]
    if let known = value("if-none-match", of: head), known == "*" || known.contains(tag) {
      try sendText("", status: 304, fields: fields, isHead: isHead)
      return true
    }
    var (offset, count, code) = (Int64(0), size, 200)
    let mayRange = value("if-range", of: head).map { $0 == tag } ?? true
    if mayRange, let text = value("range", of: head) {
      switch RequestedRange(text, size: size) {
      case .whole: break
      case .part(let first, let length):
        (offset, count, code) = (first, length, 206)
        fields.append(("Content-Range", "bytes \(first)-\(first + length - 1)/\(size)"))
      case .unsatisfiable:
        fields.append(("Content-Range", "bytes */\(size)"))
        try sendText("range\n", status: 416, fields: fields, isHead: isHead)
        return true
      }
    }
    fields += [("Content-Type", "application/octet-stream"), ("Content-Length", "\(count)")]
    try send(Array(ChunkResponseHead.text(status: code, fields: fields).utf8), more: !isHead && count > 0)
    return isHead ? true : try sendFile(file, from: offset, count: count)
  }

  private func refuseFile(_ isHead: Bool) throws(Ended) -> Bool {
    try sendText("not found\n", status: 404, isHead: isHead)
    return true
  }

  /// Strong enough for tests: size, inode and time of change.
  private func entityTag(_ status: stat) -> String {
    let parts = [
      Int64(status.st_size), Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_mtim.tv_sec),
      Int64(status.st_mtim.tv_nsec),
    ]
    return "\"" + parts.map { String($0, radix: 16) }.joined(separator: "-") + "\""
  }

  private func value(_ name: String, of head: RequestParser.Head) -> String? {
    head.fields.first { $0.name.lowercased() == name }?.value
  }
}

/// What a `Range` field asks for. Several ranges and other units are answered with the whole file.
enum RequestedRange: Hashable {
  case whole
  case part(first: Int64, length: Int64)
  case unsatisfiable

  init(_ text: String, size: Int64) {
    self = .whole
    guard text.hasPrefix("bytes="), !text.contains(",") else { return }
    let sides = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard sides.count == 2 else { return }
    if sides[0].isEmpty {
      guard let suffix = Int64(sides[1]), suffix >= 0 else { return }
      self =
        suffix == 0 || size == 0
        ? .unsatisfiable
        : .part(
          first: max(0, size - suffix), length: min(size, suffix))
      return
    }
    guard let first = Int64(sides[0]), first >= 0 else { return }
    var last = Int64.max
    if !sides[1].isEmpty {
      guard let given = Int64(sides[1]), given >= first else { return }
      last = given
    }
    self = first >= size ? .unsatisfiable : .part(first: first, length: min(last, size - 1) - first + 1)
  }
}
