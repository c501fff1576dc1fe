import Glibc

/// Writing to a descriptor failed.
enum OutputError: Error, Sendable, Equatable {
  /// Whoever read the pipe has left: no fault, the run ends without a word.
  case brokenPipe
  /// Any other reason, as `errno` has it.
  case failed(errno: Int32)

  /// The status to end with; tells the reason where there is something to tell.
  func exitStatus(telling tell: (String) -> Void) -> ExitStatus {
    switch self {
    case .brokenPipe: return .writeFailed
    case .failed: tell(message)
    }
    return .writeFailed
  }

  var message: String {
    switch self {
    case .brokenPipe: "writing to the output failed: the reader has left"
    case .failed(let number): "writing to the output failed: \(SystemErrorText.text(for: number))"
    }
  }
}

/// The system's words for an `errno`.
enum SystemErrorText {
  static func text(for number: Int32) -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard strerror_r(number, &buffer, buffer.count) == 0 else { return "error \(number)" }
    return buffer.withUnsafeBufferPointer { text in
      text.baseAddress.flatMap { String(validatingCString: $0) } ?? "error \(number)"
    }
  }
}
