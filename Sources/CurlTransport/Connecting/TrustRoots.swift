import Glibc
import PollLoop
import StreamCore

/// The roots of `TLSOptions` as one file for libcurl: with a file, and without a directory or bytes, it keeps the
/// parsed roots for the connections to come (decision 19).
final class TrustRoots: Sendable {
  /// Nil: libcurl's own default, the system's bundle.
  let path: String?
  /// What the path names, where it is ours.
  private let bundle: MemoryFile?

  /// - Parameter option: how errors name these options.
  init(_ tls: TLSOptions, option: String) throws(HTTPError) {
    if let file = tls.caFile { try Self.check(file, "\(option).caFile") }
    guard !tls.extraRoots.isEmpty else {
      path = tls.caFile
      bundle = nil
      return
    }
    var bytes: [UInt8] = []
    if let base = tls.caFile ?? CurlGlobal.systemRoots, let roots = PEMFiles.read(base) {
      bytes = roots + [0x0A]
    }
    for source in tls.extraRoots { bytes += try Self.certificates(source, "\(option).extraRoots") }
    guard let bundle = MemoryFile(bytes) else {
      throw HTTPError(
        .outOfResources, phase: .queue, message: "\(option).extraRoots can't be put into one file",
        advice: "Check the limits of descriptors and memory")
    }
    self.bundle = bundle
    path = bundle.path
  }

  private static func certificates(_ source: PEMSource, _ option: String) throws(HTTPError) -> [UInt8] {
    let certificates: [[UInt8]]
    let what: String
    switch source {
    case .bytes(let bytes):
      certificates = PEMFiles.certificates(in: bytes)
      what = "the bytes"
    case .file(let path):
      guard let bytes = PEMFiles.read(path) else { throw TLSProblem.unreadable(path, option) }
      certificates = PEMFiles.certificates(in: bytes)
      what = "\"\(path)\""
    case .directory(let path):
      guard let all = PEMFiles.readDirectory(path) else { throw TLSProblem.unreadable(path, option) }
      certificates = all
      what = "the directory \"\(path)\""
    }
    guard !certificates.isEmpty else {
      throw HTTPError(
        .invalidConfiguration, phase: .queue, message: "\(option): \(what) holds no certificate in PEM form",
        advice: "Give certificates between BEGIN CERTIFICATE and END CERTIFICATE")
    }
    return Array(certificates.joined())
  }

  private static func check(_ path: String, _ option: String) throws(HTTPError) {
    guard let bytes = PEMFiles.read(path) else { throw TLSProblem.unreadable(path, option) }
    guard !PEMFiles.certificates(in: bytes).isEmpty else {
      throw HTTPError(
        .invalidConfiguration, phase: .queue,
        message: "\(option): \"\(path)\" holds no certificate in PEM form",
        advice: "Give certificates between BEGIN CERTIFICATE and END CERTIFICATE")
    }
  }
}
