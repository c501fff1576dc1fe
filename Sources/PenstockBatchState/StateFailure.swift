import Penstock

/// Errors of a state file.
enum StateFailure {
  static func unreadable(_ path: String, _ why: String) -> HTTPError {
    HTTPError(
      .readFailed, phase: .file, message: "the state file \"\(path)\" can't be used: \(why)",
      advice: "Name another file, or remove this one to start afresh")
  }

  static func unwritable(_ path: String, _ why: String) -> HTTPError {
    HTTPError(
      .writeFailed, phase: .file, message: "the state file \"\(path)\" can't be written: \(why)")
  }

  static func busy(_ path: String) -> HTTPError {
    HTTPError(
      .readFailed, phase: .file, message: "the state file \"\(path)\" is in use by another run",
      advice: "Wait for that run, or name another file")
  }
}
