import Dispatch
import Glibc
import Penstock
import PenstockBatchState
import Synchronization

/// The inputs of a batch, read from a file or standard input as they are asked for: never more than a block of
/// lines ahead.
struct BatchInputReader: AsyncSequence {
  typealias Element = BatchInput
  typealias Failure = HTTPError

  /// What is known of the reading, for the bar and the summary.
  final class Facts: Sendable {
    /// Bytes of the input, where it is a regular file.
    let size: Int64?
    private let counts = Mutex((skipped: 0, position: Int64(0), isAtEnd: false))

    init(size: Int64?) { self.size = size }

    var skipped: Int { counts.withLock { $0.skipped } }
    /// Bytes of the lines that were handed out.
    var position: Int64 { counts.withLock { $0.position } }
    var isAtEnd: Bool { counts.withLock { $0.isAtEnd } }
    func skip(_ count: Int) { counts.withLock { $0.skipped += count } }
    func reached(_ position: Int64) { counts.withLock { $0.position = position } }
    func ended() { counts.withLock { $0.isAtEnd = true } }
  }

  /// The longest line.
  static let lineLimit = 16 << 20

  private let input: BatchInputSource
  /// Inputs that it knows as done are left out.
  var state: BatchState?
  let facts: Facts

  /// Opens the input that a command line names. Throws status 26 when that can't be.
  init(_ settings: Settings) throws(CommandFailure) {
    let path = settings.urls.first.flatMap { $0 == "-" ? nil : $0 }
    input = try BatchInputSource(path)
    facts = Facts(size: input.size)
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(
      input: input, splitter: LineSplitter(limit: BatchInputReader.lineLimit), state: state, facts: facts)
  }

  struct Iterator: AsyncIteratorProtocol {
    private static let block = 256
    let input: BatchInputSource
    var splitter: LineSplitter
    let state: BatchState?
    let facts: Facts
    private var ready: [BatchInput] = []
    private var position = 0
    /// Lines that were read and aren't looked at yet, and what came after them.
    private var lines: [BodyChunk] = []
    private var nextLine = 0
    private var line = 0
    /// Whether the rest of a line that is too long is being passed over.
    private var isSkipping = false
    private var bytesRead: Int64 = 0
    private var isAtEnd = false

    init(input: BatchInputSource, splitter: LineSplitter, state: BatchState?, facts: Facts) {
      self.input = input
      self.splitter = splitter
      self.state = state
      self.facts = facts
    }

    mutating func next() async throws(HTTPError) -> BatchInput? {
      while position == ready.count {
        if isAtEnd {
          facts.ended()
          return nil
        }
        try await fill()
      }
      defer { position += 1 }
      facts.reached(ready[position].end)
      return ready[position]
    }

    mutating func next(isolation actor: isolated (any Actor)?) async throws(HTTPError) -> BatchInput? {
      try await next()
    }

    private mutating func fill() async throws(HTTPError) {
      var found: [BatchInput] = []
      while found.isEmpty, !isAtEnd {
        while found.count < Self.block, nextLine < lines.count {
          take(lines[nextLine], &found)
          nextLine += 1
        }
        if !found.isEmpty { break }
        lines.removeAll(keepingCapacity: true)
        nextLine = 0
        if let bytes = try await input.read() {
          bytesRead += Int64(bytes.count)
          split(bytes, &found)
        } else {
          isAtEnd = true
          do throws(HTTPError) {
            if let text = try splitter.finish() { take(text, &found) }
          } catch {
            skipLine(&found)
          }
        }
      }
      ready = try await unfinished(found)
      position = 0
    }

    private mutating func split(_ bytes: [UInt8], _ found: inout [BatchInput]) {
      var bytes = bytes
      while true {
        if isSkipping {
          guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return }
          bytes.removeFirst(end + 1)
          isSkipping = false
        }
        do throws(HTTPError) { return try splitter.feed(BodyChunk(bytes), into: &lines) } catch {
          // A line that began in an earlier block: none is as long as one block. So it is the first of this one.
          skipLine(&found)
        }
      }
    }

    /// A line that is too long is a failed input, and passed over.
    private mutating func skipLine(_ found: inout [BatchInput]) {
      line += 1
      found.append(BatchLineParser.tooLong(number: line, limit: BatchInputReader.lineLimit, end: bytesRead))
      splitter = LineSplitter(limit: BatchInputReader.lineLimit)
      isSkipping = true
    }

    private mutating func take(_ text: BodyChunk, _ found: inout [BatchInput]) {
      line += 1
      if let input = BatchLineParser.parse(Array(text), number: line, end: bytesRead) { found.append(input) }
    }

    /// Without those that the state file knows as done.
    private func unfinished(_ inputs: [BatchInput]) async throws(HTTPError) -> [BatchInput] {
      guard let state, !inputs.isEmpty else { return inputs }
      let keys = inputs.map { BatchState.key(of: $0.stateKey) }
      let done = try await state.areDone(keys)
      let rest = zip(inputs, done).filter { $0.0.failure != nil || !$0.1 }.map(\.0)
      facts.skip(inputs.count - rest.count)
      return rest
    }
  }
}

/// Where the lines come from. Reading may block for long, so it happens on a thread of its own; a reader that is
/// cancelled doesn't wait for it.
final class BatchInputSource: Sendable {
  private struct State {
    var continuation: UnsafeContinuation<Result<[UInt8]?, HTTPError>, Never>?
    var isCancelled = false
  }

  private static let block = 64 << 10
  private let descriptor: Int32
  private let closes: Bool
  private let queue = DispatchQueue(label: "penstock.input")
  private let state = Mutex(State())

  /// Opens it. Throws status 26 when that can't be.
  init(_ path: String?) throws(CommandFailure) {
    guard let path else {
      descriptor = STDIN_FILENO
      closes = false
      return
    }
    try InputFile.check(path)
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    closes = true
    guard descriptor >= 0 else {
      throw CommandFailure(
        status: .readFailed,
        message: "can't read \(UsageError.quote(path)): \(SystemErrorText.text(for: errno))")
    }
  }

  deinit { if closes { close(descriptor) } }

  /// How many bytes there are; nil where that isn't known.
  var size: Int64? {
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(facts.st_size)
  }

  /// The next bytes, nil at the end.
  func read() async throws(HTTPError) -> [UInt8]? {
    let result = await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let reads = state.withLock { state in
          if state.isCancelled { return false }
          state.continuation = continuation
          return true
        }
        guard reads else { return continuation.resume(returning: .failure(.cancelled)) }
        queue.async {
          let result = self.readNow()
          self.state.withLock { $0.continuation.take() }?.resume(returning: result)
        }
      }
    } onCancel: {
      state.withLock { state in
        state.isCancelled = true
        return state.continuation.take()
      }?.resume(returning: .failure(.cancelled))
    }
    return try result.get()
  }

  private func readNow() -> Result<[UInt8]?, HTTPError> {
    var buffer = [UInt8](repeating: 0, count: Self.block)
    while true {
      let count = Glibc.read(descriptor, &buffer, Self.block)
      if count == 0 { return .success(nil) }
      if count > 0 { return .success(Array(buffer[..<count])) }
      let number = errno
      if number == EAGAIN {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, -1)
      } else if number != EINTR {
        return .failure(
          HTTPError(
            .readFailed, phase: .file,
            message: "reading the input failed: \(SystemErrorText.text(for: number))"))
      }
    }
  }
}
