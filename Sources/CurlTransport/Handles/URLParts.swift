import CCurl

/// A plain URL as libcurl keeps it, taken apart: so it neither parses one nor puts its text together again, which
/// is a twelfth of a small request.
@safe final class URLParts {
  let raw: OpaquePointer
  /// Whose URL the parts are; nil: nobody's.
  @safe @exclusivity(unchecked) private var authority: Authority?

  init?() {
    guard let raw = unsafe curl_url() else { return nil }
    unsafe self.raw = raw
  }

  deinit { unsafe curl_url_cleanup(raw) }

  /// Takes over a URL; false when it isn't plain or libcurl has no memory.
  func set(_ url: CurlURL) -> Bool {
    guard let pathStart = url.pathStart else { return false }
    let isOfAnother = authority !== url.authority
    authority = nil
    let isSet = unsafe url.text.withCString { text in
      if isOfAnother { return unsafe set(CURLUPART_URL, text) }
      return unsafe setPath(text + pathStart)
    }
    if isSet { authority = url.authority }
    return isSet
  }

  /// Path and query. Setting parts leaves plain bytes as they are (escapes it would change).
  private func setPath(_ text: UnsafePointer<CChar>) -> Bool {
    guard let mark = unsafe strchr(text, Int32(UInt8(ascii: "?"))) else {
      return unsafe set(CURLUPART_QUERY, nil) && set(CURLUPART_PATH, text)
    }
    let count = unsafe UnsafePointer(mark) - text
    let isPathSet = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: count + 1) {
      (path: UnsafeMutableBufferPointer<CChar>) -> Bool in
      guard let start = path.baseAddress else { return false }
      unsafe start.initialize(from: text, count: count)
      unsafe (start + count).initialize(to: 0)
      return unsafe set(CURLUPART_PATH, start)
    }
    return unsafe isPathSet && set(CURLUPART_QUERY, mark + 1)
  }

  private func set(_ part: CURLUPart, _ value: UnsafePointer<CChar>?) -> Bool {
    unsafe curl_url_set(raw, part, value, 0) == CURLUE_OK
  }
}
