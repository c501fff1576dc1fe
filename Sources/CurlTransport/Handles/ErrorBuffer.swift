import CCurl

/// The text that libcurl writes about an error: at a fixed address for the life of its handle.
@safe final class ErrorBuffer {
  let bytes: UnsafeMutablePointer<CChar>

  init() {
    unsafe bytes = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe bytes.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit { unsafe bytes.deallocate() }

  func clear() { unsafe bytes.pointee = 0 }

  /// What libcurl said, or its general text for the code.
  func text(for code: CURLcode) -> String {
    if unsafe bytes.pointee != 0 { return unsafe String(cString: bytes) }
    return unsafe curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "error \(code.rawValue)"
  }
}
