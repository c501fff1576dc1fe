import Glibc

/// Errors of the file system as `HTTPError`.
enum FileFailure {
  static func make(_ path: String, _ number: Int32, _ what: String? = nil) -> HTTPError {
    let message = "\"\(path)\" can't be written: \(what ?? text(number))"
    switch number {
    case ENOSPC, EDQUOT:
      return HTTPError(
        .diskFull, phase: .file, message: message,
        advice: "Free some space; what has come is kept beside it as a part file")
    case EIO:
      return HTTPError(
        .diskFailed, phase: .file, message: message,
        advice: "Check the disk; what has come is kept beside it as a part file")
    case EMFILE, ENFILE, ENOMEM:
      return HTTPError(.outOfResources, phase: .file, message: message)
    default:
      return HTTPError(.writeFailed, phase: .file, message: message, advice: advice(number))
    }
  }

  private static func advice(_ number: Int32) -> String {
    switch number {
    case EISDIR: "Name a file in it"
    case EINVAL: "Name another file"
    case ENAMETOOLONG: "Choose a shorter name: while it is loaded \".part.json\" is added to it"
    default: "Check that the folder exists and may be written to"
    }
  }

  static func exists(_ path: String) -> HTTPError {
    HTTPError(
      .fileExists, phase: .file, message: "\"\(path)\" exists already",
      advice: "Choose another name, or let it be replaced or numbered")
  }

  static func busy(_ path: String) -> HTTPError {
    HTTPError(
      .writeFailed, phase: .file, message: "\"\(path)\" can't be written: another download is writing it",
      advice: "Wait for that one, or choose another name")
  }

  static func tooLittleSpace(_ path: String, needed: Int64, free: Int64) -> HTTPError {
    HTTPError(
      .diskFull, phase: .file,
      message: "\"\(path)\" can't be written: \(needed) bytes are to come and \(free) are free",
      advice: "Free some space, or choose another folder")
  }

  static func text(_ number: Int32) -> String {
    strerror(number).map { String(cString: $0) } ?? "error \(number)"
  }
}

extension HTTPError.Kind {
  /// Whether the disk is to blame: then what has come is kept.
  var isDisk: Bool { self == .diskFull || self == .diskFailed }
}
