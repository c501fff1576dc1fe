import CCurl

/// The text that libcurl writes about an error: at a fixed address for the life of its handle.
@safe final class ErrorBuffer {
  let bytes: UnsafeMutablePointer<CChar>

  init() {
    unsafe bytes = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe bytes.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit { unsafe bytes.deallocate() }

  /// Whether libcurl has said anything.
  var isSet: Bool { unsafe bytes.pointee != 0 }

  func clear() { unsafe bytes.pointee = 0 }

  /// What libcurl said, or its general text for the code.
  func text(for code: CURLcode) -> String {
    if isSet { return unsafe String(cString: bytes) }
    return unsafe curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code.rawValue)"
  }
}
