import Dispatch
import Glibc
import Penstock

/// Standard input, or a pipe, as a sequence of blocks that are read when they are asked for.
struct InputSequence: AsyncSequence, Sendable {
  typealias Element = [UInt8]
  private let source: Settings.InputSource

  init(_ source: Settings.InputSource) { self.source = source }

  func makeAsyncIterator() -> Iterator { Iterator(source: source) }

  struct Iterator: AsyncIteratorProtocol {
    private static let block = 64 << 10
    private let source: Settings.InputSource
    private var descriptor: Int32?
    /// Reading may block for long: not on one of the few threads that run tasks.
    private let queue = DispatchQueue(label: "penstock.input")

    init(source: Settings.InputSource) { self.source = source }

    mutating func next() async throws(HTTPError) -> [UInt8]? {
      let (source, known) = (source, descriptor)
      let result: Result<(Int32, [UInt8]), HTTPError> = await withCheckedContinuation { continuation in
        queue.async { continuation.resume(returning: Self.read(source, known)) }
      }
      let (opened, bytes) = try result.get()
      descriptor = opened
      if !bytes.isEmpty { return bytes }
      if opened != STDIN_FILENO { close(opened) }
      return nil
    }

    private static func read(
      _ source: Settings.InputSource, _ known: Int32?
    ) -> Result<(Int32, [UInt8]), HTTPError> {
      let descriptor: Int32
      switch (known, source) {
      case (let known?, _): descriptor = known
      case (nil, .standardInput): descriptor = STDIN_FILENO
      case (nil, .file(let path)): descriptor = open(path, O_RDONLY | O_CLOEXEC)
      }
      var buffer = [UInt8](repeating: 0, count: block)
      while descriptor >= 0 {
        let count = Glibc.read(descriptor, &buffer, block)
        if count >= 0 { return .success((descriptor, Array(buffer[..<count]))) }
        if errno == EAGAIN {
          var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
          _ = poll(&entry, 1, -1)
        } else if errno != EINTR {
          break
        }
      }
      return .failure(
        HTTPError(
          .readFailed, phase: .file,
          message: "reading the input failed: \(SystemErrorText.text(for: errno))"))
    }
  }
}
